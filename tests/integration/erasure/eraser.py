"""A small namespace from which things are erased, driven job by job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from shared.store.verify import Finding, verify_tenant
from tests.integration.reprocess.memory import HOME, READ, Memory


@dataclass
class Eraser(Memory):
    """The namespace of the reprocessing tests, with what a person who erases can ask."""

    def ask(self, **selector: str) -> httpx.Response:
        """Ask for an erasure."""
        return self.client.post(f"{HOME}/erasures", json={"selector": selector})

    def plan(self, **selector: str) -> httpx.Response:
        """Ask what an erasure would take."""
        body = {"selector": selector, "dry_run": True}
        return self.client.post(f"{HOME}/erasures", json=body)

    def erase(self, **selector: str) -> dict[str, Any]:
        """Erase, run what follows, and return the erasure as it ended."""
        answer = self.ask(**selector)
        assert answer.status_code == 202, answer.text
        self.run()
        return self.erasure(answer.json()["erasure_id"])

    def erasure(self, erasure_id: str) -> dict[str, Any]:
        """Read one erasure."""
        answer = self.client.get(f"/v1/erasures/{erasure_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def verify(self, erasure_id: str, **things: Any) -> dict[str, Any]:
        """Check an erasure's certificate, and things that should be gone."""
        answer = self.client.post(f"/v1/erasures/{erasure_id}/verify", json=things)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def turn_ids(self) -> list[str]:
        """Return the ids of all turns, in order."""
        rows = self.sql("SELECT turn_id FROM turns ORDER BY namespace_turn")
        return [row.turn_id for row in rows]

    def titles(self, status: str = "active") -> set[str]:
        """Return the titles of the events of a status."""
        rows = self.sql("SELECT title FROM events WHERE status = :status", status=status)
        return {row.title for row in rows}

    def found(self, query: str) -> dict[str, int]:
        """Return how many hits a query has among messages, events and nodes."""
        paths = {"raw": "raw/search", "events": "events/search", "nodes": "graph/search"}
        return {
            name: len(self.client.post(f"{READ}/{path}", json={"query": query}).json()["items"])
            for name, path in paths.items()
        }

    def findings(self) -> list[Finding]:
        """Return what breaks a promise of the store."""
        with self.database.read(self.tenant_id) as tx:
            return verify_tenant(tx)
