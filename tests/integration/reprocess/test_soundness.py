"""Whatever versions are built, switched to and dropped, every promise on the memory holds."""

from __future__ import annotations

from shared.store.verify import verify_tenant
from tests.integration.reprocess.memory import HOME, Memory


def test_every_promise_holds_through_building_switching_back_and_dropping(memory: Memory) -> None:
    first = memory.live_id()
    memory.verb = "dwells in"
    version_id = memory.reprocess("extract", **{"from": "2026-02-03T00:00:00+01:00"})
    memory.run(at_most=3)
    _check(memory)
    memory.run()
    _check(memory)
    memory.switch(version_id["graph_version_id"])
    memory.say("Hana lives in Nara", "Ivo lives in Split")
    memory.run()
    _check(memory)
    memory.switch(first)
    memory.run()
    _check(memory)
    memory.client.post(f"{HOME}/graph-versions/{version_id['graph_version_id']}/drop")
    _check(memory)
    third = memory.reprocess("extract")
    memory.run()
    assert memory.switch(third["graph_version_id"]).status_code == 200
    _check(memory)


def _check(memory: Memory) -> None:
    with memory.database.read(memory.tenant_id) as tx:
        assert verify_tenant(tx) == []
