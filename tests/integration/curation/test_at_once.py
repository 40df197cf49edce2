"""Curators, decisions, projections and uses at once: nothing waits in a circle, nothing is torn."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from shared.store.verify import verify_tenant
from tests.integration.curation.curating import Curating


def test_decisions_of_many_at_once_leave_one_sound_state(curating: Curating) -> None:
    world = curating.world
    one = world.event(world.block("Mara lives in Bern.", thread_id="a"), "Mara lives in Bern")
    two = world.event(world.block("Mara lives in Rome.", thread_id="b"), "Mara lives in Rome")
    curating.states("Mara", "home", ("Bern", one), ("Rome", two))
    curating.contradict(one, two)
    conflict_id = curating.conflicts()[0]["conflict_id"]

    def use(number: int) -> int:
        batch = world.ask("events/search", {"query": "Mara"})["batch_id"]
        refs = [f"event:{one}"]
        judged = {"verdict": "sufficient", "evidence_refs": refs, "next_strategy": "answer"}
        world.post(f"/v1/batches/{batch}/assessment", judged)
        body = {"evidence_refs": refs, "receipt_id": f"at-once-{number}"}
        return world.post(f"/v1/batches/{batch}/use", body).status_code

    def project(_: int) -> int:
        curating.states("Mara", "home", ("Bern", one), ("Rome", two))
        return 200

    acts: list[Callable[[int], int]] = [
        lambda _: curating.patch(one, status="forgotten").status_code,
        lambda _: curating.patch(one, status="active").status_code,
        lambda _: curating.patch(two, status="archived", pinned=True).status_code,
        lambda _: curating.patch(two, status="active").status_code,
        lambda _: curating.resolve(conflict_id, keep=one).status_code,
        lambda _: curating.resolve(conflict_id, keep=two).status_code,
        lambda _: curating.resolve(conflict_id, keep="both").status_code,
        lambda _: curating.resolve(conflict_id, reopen=True).status_code,
        project,
        use,
    ]
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(acts[number % len(acts)], number) for number in range(60)]
        codes = [done.result() for done in asked]
    assert set(codes) <= {200, 409}

    for event_id in (one, two):
        curating.curate(event_id, status="active")
    curating.settle(conflict_id, reopen=True)
    standing = [world.see(f"events/{event_id}") for event_id in (one, two)]
    assert [(event["status"], event["superseded_by"]) for event in standing] == [
        ("active", None),
        ("active", None),
    ]
    assert [event["links"] for event in standing] == [
        {"conflicts_with": [two]},
        {"conflicts_with": [one]},
    ]
    assert len(curating.conflicts()) == 1
    with world.database.read(world.tenant.tenant_id) as tx:
        assert verify_tenant(tx) == []
