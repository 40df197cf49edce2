from __future__ import annotations

from shared.domain.events import Criticality
from shared.store.event_writes import add_links
from shared.store.events import EventLink
from tests.integration.retrieval.world import NS, World


def test_a_supersession_chain_is_read_whole_from_any_of_its_events(world: World) -> None:
    block = world.block("We use npm.", "Noted.")
    events = [world.event(block, f"Uses {name}") for name in ("npm", "yarn", "pnpm")]
    world.supersede(events[0], events[1])
    world.supersede(events[1], events[2])
    alone = world.event(block, "Something else")
    for event in events:
        chain = world.see(f"events/{event}")["standing"]["chain"]
        assert [one["event_id"] for one in chain] == events
        assert [one["status"] for one in chain] == ["superseded", "superseded", "active"]
        assert [one["superseded_by"] for one in chain] == [events[1], events[2], None]
    assert world.see(f"events/{alone}")["standing"]["chain"] == []


def test_contradictions_stand_beside_an_event(world: World) -> None:
    block = world.block("Ann likes tea.", "Noted.")
    tea, coffee = world.event(block, "Ann likes tea"), world.event(block, "Ann hates tea")
    with world.database.write(world.tenant.tenant_id) as tx:
        add_links(
            tx, [EventLink(a, "conflicts_with", b) for a, b in ((tea, coffee), (coffee, tea))]
        )
    (rival,) = world.see(f"events/{tea}")["standing"]["conflicts"]
    assert (rival["event_id"], rival["title"]) == (coffee, "Ann hates tea")


def test_the_weight_curve_passes_through_the_weight_now(world: World) -> None:
    block = world.block("The roof leaks.", "Noted.")
    event = world.event(block, "Roof leaks")
    lasting = world.event(block, "Allergic to nuts", criticality=Criticality.SAFETY)
    for index in range(3):
        world.say(f"Turn {index}.", "Yes.")
    record = world.see(f"events/{event}")
    standing = record["standing"]
    assert standing["turns_since_adopted"] == 3
    here = next(point for point in standing["weight_curve"] if point["turns"] == 3)
    assert here["weight"] == round(record["weight"], 4) < 1
    weights = [point["weight"] for point in standing["weight_curve"]]
    assert weights == sorted(weights, reverse=True)
    flat = world.see(f"events/{lasting}")["standing"]["weight_curve"]
    assert {point["weight"] for point in flat} == {1.0}


def test_the_timeline_shows_only_events_in_which_all_named_take_part(world: World) -> None:
    block = world.block("Ann and Bob met.", "Noted.")
    both = world.event(block, "Ann met Bob", participants=("Ann Lee", "Bob"))
    world.event(block, "Ann alone", participants=("Ann Lee",))
    world.event(block, "Nobody")
    for path in ("timeline", "events"):
        names = {
            "ann": 2,
            "ANN LEE": 2,
            "Ann Lee-Smith": 2,
            "Annika": 0,
            "bob": 1,
            "Bobby": 1,
            "%": 0,
        }
        for name, wanted in names.items():
            assert len(world.see(path, participants=name)["items"]) == wanted, (path, name)
        (found,) = world.see(path, participants=["ann", "bob"])["items"]
        assert (found.get("event") or found)["event_id"] == both
    answer = world.get(f"/v1/retrieval/{NS}/timeline", participants="x" * 201)
    assert answer.status_code == 422
