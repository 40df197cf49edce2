"""Fifty clients at once, a fifth of their turns sent again: each stored once, in order."""

from __future__ import annotations

import random
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest

from shared.settings import Settings
from shared.store.database import Database
from shared.store.messages import turns_range
from shared.store.tenants import set_limits
from tests.integration.ingest.serving import served, turn
from tests.support.databases import new_tenant, settings_for

CLIENTS = 50
REPLAYED = 0.2
POOL = 5
TRUST = ssl.create_default_context()  # read once: fifty clients would each read it
NAMESPACES = ("project:one", "project:two", "session:three")


@dataclass(slots=True)
class Crowd:
    """What the clients of one run share: where they post, and every reply they got."""

    url: str
    headers: dict[str, str]
    turns_each: int
    seed: int = 7
    replies: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Let all clients post their turns, each its own thread's, in order."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            for done in [pool.submit(self.client, number) for number in range(CLIENTS)]:
                done.result()

    def client(self, number: int) -> None:
        chance = random.Random(self.seed + number)  # noqa: S311 - which turns are sent again
        with httpx.Client(
            base_url=self.url, headers=self.headers, timeout=60, verify=TRUST
        ) as http:
            for n in range(1, self.turns_each + 1):
                self.post(http, number, n)
                if chance.random() < REPLAYED:
                    self.replay(http, number, chance.randint(1, n), races=chance.random() < 0.5)

    def replay(self, http: httpx.Client, number: int, n: int, *, races: bool) -> None:
        """Send a turn again; or twice at once, as an impatient client does."""
        if not races:
            self.post(http, number, n)
            return
        other = threading.Thread(target=self.post, args=(http, number, n))
        other.start()
        self.post(http, number, n)
        other.join()

    def post(self, http: httpx.Client, number: int, n: int) -> None:
        """Post one turn until it is taken; a 429 is waited for, as it asks."""
        body = turn(receipt(number, n), said(number, n), thread_id=f"thread-{number}")
        path = f"/v1/namespaces/{namespace_of(number)}/turns"
        while True:
            answer = http.post(path, json=body)
            with self.lock:
                self.replies.append((receipt(number, n), answer.status_code, answer.json()))
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                return
            assert int(answer.headers["Retry-After"]) >= 1
            threading.Event().wait(0.05)


def receipt(number: int, n: int) -> str:
    return f"client-{number}-turn-{n}"


def said(number: int, n: int) -> str:
    return f"Client {number} says sentence {n}."


def namespace_of(number: int) -> str:
    return NAMESPACES[number % len(NAMESPACES)]


@contextmanager
def most_connections(settings: Settings) -> Iterator[Callable[[], int]]:
    """Watch the server's connections from aside; gives the most there were at once."""
    ended, seen = threading.Event(), [0]
    url = settings.database_url.get_secret_value()

    def watch() -> None:
        with psycopg.connect(url, autocommit=True, application_name="watcher") as connection:
            while not ended.wait(0.02):
                row = connection.execute(
                    "SELECT count(*) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'stratagate'"
                ).fetchone()
                seen[0] = max(seen[0], row[0] if row else 0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: seen[0]
    finally:
        ended.set()
        watcher.join()


def crowded(
    own_settings: Settings, *, turns_each: int, requests_per_s: float | None = None
) -> Crowd:
    """Run a crowd against a server of its own and check what the contract promises."""
    url = own_settings.database_url.get_secret_value()
    settings = settings_for(url, pool_size=POOL)
    database = Database(settings)
    tenant = new_tenant(settings, database)
    if requests_per_s is not None:
        change = {"requests_per_s": requests_per_s}
        set_limits(settings, tenant.tenant_id, change, to_default=[])
    database.close()
    with served(settings) as served_url, most_connections(settings) as most:
        crowd = Crowd(served_url, tenant.headers, turns_each)
        crowd.run()
        assert 0 < most() <= POOL
    statuses = {status for _, status, _ in crowd.replies}
    assert statuses <= {200, 201, 429}
    assert_stored_once_in_order(Database(settings), tenant.tenant_id, crowd)
    return crowd


def assert_stored_once_in_order(database: Database, tenant_id: str, crowd: Crowd) -> None:
    taken = [(name, body) for name, status, body in crowd.replies if status in (200, 201)]
    firsts = [name for name, body in taken if not body["duplicate"]]
    assert len(firsts) == len(set(firsts)) == CLIENTS * crowd.turns_each
    places: dict[str, set[tuple[str, int]]] = {}
    for name, body in taken:
        places.setdefault(name, set()).add((body["turn_id"], body["sequence"]))
    assert all(len(seen) == 1 for seen in places.values())
    try:
        with database.read(tenant_id) as tx:
            for number in range(CLIENTS):
                stored = turns_range(
                    tx, namespace_of(number), f"thread-{number}", first=1, last=None
                )
                told = [one.message.content for one in stored if one.message.role.value == "user"]
                assert told == [said(number, n) for n in range(1, crowd.turns_each + 1)]
    finally:
        database.close()


def test_two_hundred_turns_of_fifty_clients_are_stored_once_in_order(
    own_settings: Settings,
) -> None:
    crowd = crowded(own_settings, turns_each=4)
    assert len(crowd.replies) > 200


def test_a_rate_slows_a_crowd_down_and_loses_nothing(own_settings: Settings) -> None:
    crowd = crowded(own_settings, turns_each=1, requests_per_s=10)
    assert 429 in {status for _, status, _ in crowd.replies}


@pytest.mark.full
def test_a_thousand_turns_of_fifty_clients_are_stored_once_in_order(
    own_settings: Settings,
) -> None:
    crowd = crowded(own_settings, turns_each=20)
    assert len(crowd.replies) > 1_150
