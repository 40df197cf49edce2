from __future__ import annotations

from workers.prompts.aliases import Aliases

NAMES = Aliases.of("m", ("msg_a", "msg_b", "msg_a"))


def test_each_id_has_one_name_in_order() -> None:
    assert NAMES.by_id == {"msg_a": "m1", "msg_b": "m2"}
    assert NAMES.names == ("m1", "m2")


def test_names_become_ids_where_a_reply_cites_and_nowhere_else() -> None:
    reply = {
        "reason": "m1",
        "events": [
            {
                "title": "m1",
                "tags": ["m2"],
                "sourceMessageIds": ["m2", " M1 "],
                "quotes": [{"messageId": "m1", "text": "m2"}],
                "temporal": {"same_event_id": "m2", "participants": ["m1"]},
            }
        ],
    }
    event = {
        "title": "m1",
        "tags": ["m2"],
        "sourceMessageIds": ["msg_b", "msg_a"],
        "quotes": [{"messageId": "msg_a", "text": "m2"}],
        "temporal": {"same_event_id": "msg_b", "participants": ["m1"]},
    }
    assert NAMES.restored(reply) == {"reason": "m1", "events": [event]}


def test_provenance_cites_in_its_lists_and_not_in_its_values() -> None:
    provenance = {"name": ["m1"], "aliases": [{"value": "m1", "sourceEventIds": ["m2"]}]}
    by_value = {"name": "m1", "aliases": {"m1": ["m2"]}}
    restored = NAMES.restored({"nodes": [{"name": "m1", "metadataProvenance": provenance}]})
    assert restored == {
        "nodes": [
            {
                "name": "m1",
                "metadataProvenance": {
                    "name": ["msg_a"],
                    "aliases": [{"value": "m1", "sourceEventIds": ["msg_b"]}],
                },
            }
        ]
    }
    kept = NAMES.restored({"metadataProvenance": by_value})
    assert kept == {"metadataProvenance": {"name": "msg_a", "aliases": {"m1": ["msg_b"]}}}


def test_ids_and_strangers_stay_as_they_are() -> None:
    clash = Aliases({"m2": "m1", "msg_b": "m2"})
    cited = {"sourceMessageIds": ["m2", "m9", 7, None]}
    assert clash.restored(cited) == cited
