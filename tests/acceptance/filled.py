"""A tenant that has one of everything that has an id, for the tests that ask with those ids."""

from __future__ import annotations

from tests.acceptance.memory import Memory
from tests.acceptance.route_examples import THREAD

SHARED, ONLY_THEIRS = "project:shared", "project:theirs"
Names = dict[str, str]


def filled_memory(memory: Memory) -> Names:
    """Walk some turns through both namespaces of a tenant; return an id of every kind."""
    for namespace in (ONLY_THEIRS, SHARED):
        home = Memory(memory.system, memory.tenant, namespace)
        home.begin(block_turn_size=2)
        home.turn("first", "We decided to use pnpm in Orion.", thread_id="theirs")
        last = home.turn("last", "Mara leads the design of Orion.", thread_id="theirs")
        home.settled_jobs()
        # Open again, so that there is something to seal.
        home.turn("open", "The spare key is under the flowerpot.", thread_id="theirs")
    found = memory.search_events("pnpm Orion", thread_id="theirs")
    nodes = memory.search_graph("Mara")
    versions = memory.get(f"{memory.written}/graph-versions")
    key = memory.post("/v1/keys", {"label": "to be revoked", "permissions": ["read"]})
    selector = {"selector": {"label": "nobody=here"}}
    erasure = memory.post(f"{memory.written}/erasures", selector, expect=202)
    memory.settled_jobs()
    bundle = memory.post(f"{memory.written}/exports", expect=202)
    export = '{"candidates": [{"title": "Likes tea", "summary": "Likes tea."}]}'
    begun = memory.post(f"{memory.written}/imports", {"text": export}, expect=202)
    memory.settled_jobs()
    memory.assess(
        found["batch_id"], "sufficient", [found["items"][0]["evidence_ref"]], strategy="answer"
    )
    return {
        THREAD: "theirs",
        "trn": last["turn_id"],
        "msg": memory.search_raw("pnpm")["items"][0]["message_id"],
        "blk": last["sealed_block_ids"][0],
        "evt": found["items"][0]["event_id"],
        "nod": nodes["items"][0]["node_id"],
        "bat": found["batch_id"],
        "era": erasure["erasure_id"],
        "exp": bundle["export_id"],
        "imp": begun["import_id"],
        "job": memory.jobs()[0]["job_id"],
        "key_id": key["key_id"],
        "gvn": versions["items"][0]["graph_version_id"],
        "cfl": contradiction(memory),
    }


def contradiction(memory: Memory) -> str:
    """Let two events of the memory contradict each other; return the conflict's id."""
    one, other = (card["event_id"] for card in memory.get(f"{memory.read}/events")["items"][:2])
    memory.system.sql(
        "INSERT INTO event_links (tenant_id, event_id, kind, other_event_id)"
        " SELECT %s, pair[1], 'conflicts_with', pair[2] FROM"
        " (VALUES (%s::text[]), (%s::text[])) AS p (pair) RETURNING event_id",
        memory.tenant.tenant_id,
        [one, other],
        [other, one],
    )
    found = memory.get(f"{memory.written}/curation/conflicts")["items"]
    return str(found[0]["conflict_id"])
