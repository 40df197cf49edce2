"""Clients that post turns while the stack is broken, and repeat each until it is accepted."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import httpx

NAMESPACES = ("project:chaos-harbour", "project:chaos-orchard")
SHARED_THREAD = "shared"
_PAUSE_S = 0.6
_RETRY_S = 0.2
_REPEAT_EVERY = 7
"""Each seventh turn is posted once more after its acceptance, as a client does that lost the
answer."""

_TEMPLATES = (
    "We decided to move crate {n} of {who} to hall {m}.",
    "{who} prefers plan {n} for the harbour from March on.",
    "Mara joined the team of {who} as designer number {n}.",
    "The deadline of milestone {n} of {who} is 2026-05-{d:02d}.",
)
_NAMES = ("Orion", "Kestrel", "Lyra")


@dataclass(frozen=True, slots=True)
class Accepted:
    """One turn that the API has said it keeps."""

    namespace: str
    thread_id: str
    receipt_id: str
    turn_id: str
    content: str


@dataclass(slots=True)
class Traffic:
    """A few clients on threads of their own; `accepted` may be read once they have stopped."""

    url: str
    key: str
    clients: int = 3
    accepted: list[Accepted] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    posts: int = 0
    failed_posts: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _given_up: threading.Event = field(default_factory=threading.Event)
    _eased: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, *, block_turn_size: int) -> None:
        """Begin the namespaces and let the clients post."""
        with self._client() as api:
            for namespace in NAMESPACES:
                policy = {"block_turn_size": block_turn_size}
                api.put(f"/v1/namespaces/{namespace}", json=policy).raise_for_status()
        for number in range(self.clients):
            thread = threading.Thread(target=self._run, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def ease(self, *, is_behind: bool) -> None:
        """Hold new turns back while the workers are far behind, so that runs end."""
        if is_behind:
            self._eased.set()
        else:
            self._eased.clear()

    def stop(self, *, within_s: float) -> None:
        """Let every client have its last turn accepted. Raises TimeoutError when one cannot."""
        self._stopped.set()
        deadline = time.monotonic() + within_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                raise TimeoutError(f"a client's turn was not accepted within {within_s:g} s")

    def give_up(self) -> None:
        """Let the clients go, whether their last turn was accepted or not."""
        self._stopped.set()
        self._given_up.set()

    def _run(self, client: int) -> None:
        number = 0
        with self._client() as api:
            while not self._stopped.is_set():
                namespace = NAMESPACES[(client + number) % len(NAMESPACES)]
                thread_id = SHARED_THREAD if number % 3 else f"client-{client}"
                receipt = f"chaos-{client}-{number}"
                self._post(api, namespace, _body(client, number, thread_id, receipt))
                number += 1
                self._stopped.wait(_PAUSE_S)
                while self._eased.is_set() and not self._stopped.is_set():
                    self._stopped.wait(_RETRY_S)

    def _post(self, api: httpx.Client, namespace: str, body: dict[str, Any]) -> None:
        first = self._until_accepted(api, namespace, body)
        if first is None:
            return
        turn = Accepted(
            namespace,
            body["thread_id"],
            body["receipt_id"],
            first["turn_id"],
            body["messages"][0]["content"],
        )
        with self._lock:
            self.accepted.append(turn)
            again = len(self.accepted) % _REPEAT_EVERY == 0
        if again:
            second = self._until_accepted(api, namespace, body)
            if second is not None and second["turn_id"] != turn.turn_id:
                self.disagreements.append(
                    f"{turn.receipt_id} was {turn.turn_id}, then {second['turn_id']}"
                )

    def _until_accepted(
        self, api: httpx.Client, namespace: str, body: dict[str, Any]
    ) -> dict[str, Any] | None:
        while not self._given_up.is_set():
            with self._lock:
                self.posts += 1
            try:
                answer = api.post(f"/v1/namespaces/{namespace}/turns", json=body)
                if answer.status_code in (HTTPStatus.OK, HTTPStatus.CREATED):
                    accepted: dict[str, Any] = answer.json()
                    return accepted
                self._note_refusal(answer, body)
            except httpx.HTTPError:  # whether it was stored is unknown: the receipt settles it
                pass
            with self._lock:
                self.failed_posts += 1
            time.sleep(_RETRY_S)
        return None

    def _note_refusal(self, answer: httpx.Response, body: dict[str, Any]) -> None:
        """A sound turn may be put off (429, 5xx), never refused."""
        if answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and (
            answer.status_code != HTTPStatus.TOO_MANY_REQUESTS
        ):
            self.disagreements.append(
                f"{body['receipt_id']} was answered {answer.status_code}: {answer.text[:200]}"
            )

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=10)


def _body(client: int, number: int, thread_id: str, receipt_id: str) -> dict[str, Any]:
    template = _TEMPLATES[number % len(_TEMPLATES)]
    who = _NAMES[number % len(_NAMES)]
    said = template.format(n=client * 10_000 + number, m=number % 40, d=1 + number % 28, who=who)
    return {
        "thread_id": thread_id,
        "receipt_id": receipt_id,
        "occurred_at": f"2026-03-02T{number // 3600 % 24:02d}:{number // 60 % 60:02d}"
        f":{number % 60:02d}+01:00",
        "timezone": "Europe/Berlin",
        "messages": [
            {"role": "user", "content": said},
            {"role": "assistant", "content": f"Noted: {receipt_id}."},
        ],
    }
