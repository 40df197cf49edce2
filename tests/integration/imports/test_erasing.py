"""What an import brought can be erased, also once it is undone and on no page but its own."""

from __future__ import annotations

import json

import pytest

from tests.integration.imports.test_undoing import findings
from tests.integration.imports.world import NS, World, export, memory

MARKER = "xylophonist"


@pytest.mark.parametrize("undone", [False, True])
def test_erasing_the_thread_of_an_import_takes_its_text_and_candidates(
    world: World, *, undone: bool
) -> None:
    world.say("My name is Dana and I live in Oslo.")
    begun = world.import_text(export(memory(f"Works as a {MARKER}")))
    world.run_jobs()
    done = world.confirm(begun["import_id"])
    world.run_jobs()
    if undone:
        world.undo(begun["import_id"])
    thread = f"external-import:{done['source_block_id']}"
    body = {"selector": {"thread": thread}}
    erasure = world.post(f"/v1/namespaces/{NS}/erasures", body, expect=202)
    world.run_jobs()
    assert world.get(f"/v1/erasures/{erasure['erasure_id']}")["state"] == "done"
    for table in ("imports", "import_candidates", "messages", "events", "block_layers", "jobs"):
        assert MARKER not in json.dumps(world.rows(table), default=str), table
    page = world.page(begun["import_id"])
    assert page["candidates"][0]["is_erased"]
    assert "title" not in page["candidates"][0]
    assert world.undo(begun["import_id"])["already_undone"] is undone
    assert findings(world) == []
    assert world.get(f"/v1/namespaces/{NS}")["turn_count"] == 1


def test_erasing_the_namespace_takes_every_import(world: World) -> None:
    kept = world.decided(memory(f"Works as a {MARKER}"))
    page = world.decided(memory("Plays the cello"))
    world.confirm(page["import_id"])
    world.undo(page["import_id"])
    world.post(f"/v1/namespaces/{NS}/erasures", {"selector": {"namespace": NS}}, expect=202)
    world.run_jobs()
    assert world.rows("imports") == []
    assert world.rows("import_candidates") == []
    world.get(f"/v1/imports/{kept['import_id']}", expect=404)
