"""Serve one model file by an OpenAI-compatible endpoint: `-m tests.llm.serve FILE TOKENS`."""

from __future__ import annotations

import importlib
import sys
import threading


def main() -> None:
    """Serve until the process is ended; prints `URL http://…` once it listens."""
    xllamacpp = importlib.import_module("xllamacpp")  # installed by hand, for this test alone
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = int(sys.argv[2])
    params.n_parallel = 1
    params.n_threads_http = 2
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.port = 0
    server = xllamacpp.Server(params)
    print(f"URL {server.listening_address}", flush=True)  # noqa: T201 - read by who starts it
    threading.Event().wait()


if __name__ == "__main__":
    main()
