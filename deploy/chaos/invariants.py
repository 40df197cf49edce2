"""What holds of a stack however it was broken; each check returns what breaks its promise."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from deploy.bootstrap import ROOT
from deploy.chaos.ground import Ground
from deploy.chaos.traffic import Accepted
from deploy.local.services import stratagate
from shared.domain.jobs import LIMITS_OF, JobKind

_VERIFY_LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class World:
    """What the checks look at: the database, the API, and what clients were promised."""

    ground: Ground
    api: httpx.Client
    database_url: str
    accepted: list[Accepted]
    disagreements: list[str]

    def contexts(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return each thread that was written to, with what its next turn would know."""
        threads = self.ground.ask("SELECT namespace, thread_id FROM threads ORDER BY 1, 2")
        return [(thread, self._context(**thread)) for thread in threads]

    def _context(self, namespace: str, thread_id: str) -> dict[str, Any]:
        answer = self.api.post(f"/v1/retrieval/{namespace}/context", json={"thread_id": thread_id})
        context: dict[str, Any] = answer.raise_for_status().json()
        return context


@dataclass(frozen=True, slots=True)
class Invariant:
    """One promise, and the check that returns a line for each thing that breaks it."""

    name: str
    promise: str
    check: Callable[[World], list[str]]


def _turns_lost(world: World) -> list[str]:
    stored: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in world.ground.ask(
        "SELECT t.namespace, t.receipt_id, t.turn_id, m.content FROM turns AS t "
        "LEFT JOIN messages AS m ON m.tenant_id = t.tenant_id AND m.turn_id = t.turn_id "
        "AND m.position = (SELECT min(position) FROM messages AS f "
        "WHERE f.tenant_id = t.tenant_id AND f.turn_id = t.turn_id)"
    ):
        key = (row["namespace"], row["receipt_id"])
        stored.setdefault(key, []).append((row["turn_id"], row["content"]))
    found = list(world.disagreements)
    for turn in world.accepted:
        there = stored.pop((turn.namespace, turn.receipt_id), [])
        if there != [(turn.turn_id, turn.content)]:
            found.append(f"{turn.receipt_id} in {turn.namespace} is stored as {there}")
    return found + [f"nobody was promised {receipt} in {where}" for where, receipt in stored]


def _missing_from_context(world: World) -> list[str]:
    found = []
    for thread, context in world.contexts():
        shown = [one for block in context["blocks"] for one in block["message_ids"]]
        shown += [message["message_id"] for message in context["open_tail"]]
        said = world.ground.ask(
            "SELECT message_id FROM messages WHERE namespace = %s AND thread_id = %s "
            "ORDER BY turn_sequence, position",
            thread["namespace"],
            thread["thread_id"],
        )
        if shown != [row["message_id"] for row in said]:
            found.append(f"{thread}: {len(said)} messages said, {len(shown)} in context")
        found += [
            f"the unready block {block['block_id']} does not show its messages"
            for block in context["blocks"]
            if block["status"] != "ready"
            and [one["message_id"] for one in block["messages"] or ()] != block["message_ids"]
        ]
    return found


_DOUBLED = {
    "summaries of one block": (
        "SELECT block_id AS what FROM block_summaries GROUP BY tenant_id, block_id "
        "HAVING count(*) > 1"
    ),
    "event sets of one block": (
        "SELECT block_id AS what FROM events GROUP BY tenant_id, block_id "
        "HAVING count(DISTINCT job_id) > 1"
    ),
    # The same words of two messages are two events: a model may well say both alike.
    "events that say the same of the same messages": (
        "SELECT fingerprint AS what FROM (SELECT e.tenant_id, e.block_id, e.fingerprint, "
        "(SELECT string_agg(s.message_id, ' ' ORDER BY s.message_id) FROM event_sources AS s "
        "WHERE s.tenant_id = e.tenant_id AND s.event_id = e.event_id) AS sources "
        "FROM events AS e) AS told "
        "GROUP BY tenant_id, block_id, fingerprint, sources HAVING count(*) > 1"
    ),
    "current facts that say the same": (
        "SELECT key AS what FROM facts WHERE status = 'active' "
        "GROUP BY tenant_id, node_id, mode, key, value HAVING count(*) > 1"
    ),
    "live jobs of one piece of work": (
        "SELECT subject AS what FROM jobs WHERE finalized_at IS NULL "
        "GROUP BY tenant_id, kind, subject HAVING count(*) > 1"
    ),
    "turns in two blocks": (
        "SELECT t.turn_id AS what FROM turns AS t JOIN blocks AS b "
        "ON b.tenant_id = t.tenant_id AND b.namespace = t.namespace "
        "AND b.thread_id = t.thread_id AND t.sequence BETWEEN b.start_turn AND b.end_turn "
        "GROUP BY t.tenant_id, t.turn_id HAVING count(*) > 1"
    ),
}


def _doubled(world: World) -> list[str]:
    return [
        f"{name}: {row['what']}"
        for name, query in _DOUBLED.items()
        for row in world.ground.ask(query)
    ]


def _without_end(world: World) -> list[str]:
    found = []
    for job in world.ground.ask(
        "SELECT job_id, kind, state, max_attempts, finalized_at, "
        "extract(epoch FROM finalized_at - created_at) AS took_s FROM jobs"
    ):
        limit_s = LIMITS_OF[JobKind(job["kind"])].ceiling_s * job["max_attempts"]
        if job["finalized_at"] is None:
            found.append(f"{job['job_id']} ({job['kind']}) is still {job['state']}")
        elif job["took_s"] > limit_s:
            found.append(f"{job['job_id']} took {job['took_s']:.0f} s of at most {limit_s:.0f}")
    return found


def _silent_failures(world: World) -> list[str]:
    found = [
        f"{job['job_id']} is {job['state']} without a reason"
        for job in world.ground.ask(
            "SELECT job_id, state FROM jobs WHERE state = 'dead' AND "
            "(reason IS NULL OR jsonb_array_length(errors) = 0 "
            "OR errors -> -1 ->> 'code' IS DISTINCT FROM reason) "
            "OR state = 'degraded' AND reason IS NULL"
        )
    ]
    for _, context in world.contexts():
        found += [
            f"{block['block_id']} is {block['status']}, and no job of it is live"
            for block in context["blocks"]
            if block["status"] not in ("ready", "failed")
        ]
    told = {job["job_id"] for job in _jobs_in(world, "dead")}
    dead = {row["job_id"] for row in world.ground.ask("SELECT job_id FROM jobs WHERE state='dead'")}
    return found + [f"{job_id} is not among the dead letters" for job_id in dead - told]


def _unverified(world: World) -> list[str]:
    done = subprocess.run(
        stratagate("verify", "--json"),
        cwd=ROOT,
        env={**os.environ, "STRATAGATE_DATABASE_URL": world.database_url},
        capture_output=True,
        text=True,
        timeout=_VERIFY_LIMIT_S,
        check=False,
    )
    if done.returncode == 0:
        return []
    try:
        findings = json.loads(done.stdout)
    except ValueError:
        return [f"stratagate verify failed: {done.stderr[-500:]}"]
    return [f"{one['promise']}: {one['subject']}" for one in findings]


def _not_derived(world: World) -> list[str]:
    found = [
        f"{block['block_id']} is {block['status']}"
        for _, context in world.contexts()
        for block in context["blocks"]
        if block["status"] != "ready"
    ]
    states = Counter(row["state"] for row in world.ground.ask("SELECT state FROM jobs"))
    return found + ([f"{states['dead']} jobs are dead"] if states["dead"] else [])


def _jobs_in(world: World, state: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"state": state, "limit": 100}
    while True:
        page = world.api.get("/v1/jobs", params=asked).raise_for_status().json()
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        asked["cursor"] = page["next_cursor"]


def retry_failed(world: World) -> int:
    """Start every dead or degraded job again, as an operator would; return how many."""
    failed = _jobs_in(world, "dead") + _jobs_in(world, "degraded")
    for job in failed:
        world.api.post(f"/v1/jobs/{job['job_id']}/retry").raise_for_status()
    return len(failed)


AFTER_FAULTS = (
    Invariant("turns_kept", "every accepted turn is stored once, as it was sent", _turns_lost),
    Invariant("nothing_missing", "context holds every message, in order", _missing_from_context),
    Invariant("effects_once", "nothing is derived or sealed twice", _doubled),
    Invariant("jobs_end", "every job is over within its ceiling × attempts", _without_end),
    Invariant("failures_told", "every failure is visible with its reason", _silent_failures),
    Invariant("verify_clean", "stratagate verify finds nothing", _unverified),
)
"""Checked when the faults are over and no job is live."""

AFTER_RETRY = (
    Invariant("all_derived", "after a retry of what failed every block is ready", _not_derived),
    Invariant("effects_once_more", "the retries derived nothing twice", _doubled),
    Invariant("verify_clean_again", "stratagate verify still finds nothing", _unverified),
)
"""Checked when the failed jobs, retried by hand, are over too."""
