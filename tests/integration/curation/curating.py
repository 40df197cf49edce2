"""What a curator does over HTTP, in a world of the retrieval tests."""

from __future__ import annotations

from typing import Any

import httpx

from shared.domain.graph import FactMode, NodeType, RecordStatus, Stance
from shared.domain.graph_proposed import Proposal, ProposedFact, ProposedNode
from shared.store.event_writes import add_links
from shared.store.events import EventLink
from tests.integration.retrieval.world import NS, World

CURATION = f"/v1/namespaces/{NS}/curation"


class Curating:
    """A world, and the calls of a curator with its admin key."""

    def __init__(self, world: World) -> None:
        self.world = world

    def patch(self, event_id: str, *, headers: Any = None, **body: Any) -> httpx.Response:
        return self.world.http.patch(
            f"{CURATION}/events/{event_id}", json=body, headers=headers or self.world.headers
        )

    def curate(self, event_id: str, **body: Any) -> Any:
        """PATCH an event and return the answer, which must be 200."""
        answer = self.patch(event_id, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def conflicts(self, **query: Any) -> Any:
        answer = self.world.get(f"{CURATION}/conflicts", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()["items"]

    def resolve(self, conflict_id: str, **body: Any) -> httpx.Response:
        return self.world.post(f"{CURATION}/conflicts/{conflict_id}/resolve", body)

    def settle(self, conflict_id: str, **body: Any) -> Any:
        """Resolve or reopen a conflict and return the answer, which must be 200."""
        answer = self.resolve(conflict_id, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def contradict(self, one: str, other: str) -> None:
        """Link a conflict both ways, as a derivation does."""
        kind = "conflicts_with"
        with self.world.database.write(self.world.tenant.tenant_id) as tx:
            add_links(tx, [EventLink(one, kind, other), EventLink(other, kind, one)])

    def states(self, name: str, key: str, *said: tuple[str, str]) -> None:
        """Project that `name` has a fact `key`: one (value, event) after the other."""
        for value, event in said:
            fact = ProposedFact(key, FactMode.STATE, value, Stance.ASSERTED, 0.9, (event,))
            node = ProposedNode(
                "n",
                name,
                NodeType.PERSON,
                RecordStatus.ACTIVE,
                0.9,
                (event,),
                (event,),
                facts=(fact,),
            )
            self.world.project([event], Proposal("", (node,)))

    def key(self, *permissions: str, namespaces: list[str] | None = None) -> dict[str, str]:
        """Make a key and return the headers of its requests."""
        body: dict[str, Any] = {"label": "a key", "permissions": list(permissions)}
        if namespaces is not None:
            body["namespaces"] = namespaces
        made = self.world.post("/v1/keys", body)
        assert made.status_code == 201, made.text
        return {"Authorization": f"Bearer {made.json()['key']}"}
