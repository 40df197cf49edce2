"""Sound replies to each of the service's prompts, made from the prompt's own data section.

They are what a well-behaved model might answer, so that faults can be made from them.
"""

from __future__ import annotations

import json
from typing import Any

UNKNOWN_TIME = {
    "happenedStart": None,
    "happenedEnd": None,
    "originalText": None,
    "precision": "unknown",
    "basis": "unknown",
    "status": "occurred",
    "eventType": "other",
    "sameEventId": None,
    "supersedesEventIds": [],
    "conflictsWithEventIds": [],
    "beforeEventIds": [],
    "afterEventIds": [],
    "relatedEventIds": [],
}


def data_of(request: dict[str, Any]) -> dict[str, Any]:
    """Return the data section of a chat completion request; empty where there is none."""
    user = str(request["messages"][-1]["content"])
    if "<data>\n" not in user:
        return {}
    text = user.split("<data>\n", 1)[1].split("\n</data>", 1)[0]
    data: dict[str, Any] = json.loads(text)
    return data


def good_reply(request: dict[str, Any]) -> dict[str, Any]:
    """Return an object that holds every rule of the step that the request belongs to."""
    data = data_of(request)
    if "target" in data:
        return _events(data)
    if "graph" in data:
        return _graph(data)
    return _summary(data)


def _summary(data: dict[str, Any]) -> dict[str, Any]:
    said = _said(data.get("messages", []))
    first = said[0]["content"] if said else "Nothing was said"
    return {
        "title": first[:60],
        "tags": ["conversation"],
        "summary": f"Somebody said: {first[:200]}",
        "keypoints": [one["content"][:200] for one in said[:5]] or [first],
        "shouldExtract": True,
    }


def _events(data: dict[str, Any]) -> dict[str, Any]:
    allowed = set(data["allowedSourceMessageIds"])
    said = [one for one in _said(data["target"]["messages"]) if one["id"] in allowed]
    if not said:
        return {"shouldExtract": False, "reason": "nothing was said", "events": []}
    return {
        "shouldExtract": True,
        "reason": "something was said",
        "events": [_event(one) for one in said[:3]],
    }


def _event(message: dict[str, Any]) -> dict[str, Any]:
    words = message["content"][:160].strip()
    return {
        "title": words[:60],
        "summary": words,
        "narrative": None,
        "tags": ["said"],
        "quotes": [{"messageId": message["id"], "text": words}],
        "sourceMessageIds": [message["id"]],
        "scope": "user",
        "criticality": "routine",
        "category": None,
        "temporal": {**UNKNOWN_TIME, "participants": ["Ann"]},
    }


def _graph(data: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, list[str]] = {}
    for event in data["events"]:
        for name in event["participants"]:
            names.setdefault(name, []).append(event["id"])
    nodes = [_node(f"n{at}", name, ids) for at, (name, ids) in enumerate(names.items())]
    return {"reason": "participants", "nodes": nodes, "edges": []}


def _node(ref: str, name: str, event_ids: list[str]) -> dict[str, Any]:
    return {
        "ref": ref,
        "name": name,
        "type": "person",
        "aliases": [],
        "tags": [],
        "metadataProvenance": {"name": event_ids, "aliases": [], "tags": []},
        "status": "active",
        "confidence": 0.9,
        "sourceEventIds": event_ids,
        "facts": [],
    }


def _said(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in messages if one["role"] == "user" and one["content"].strip()]
