"""A namespace over HTTP, and derived memories written as the workers write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from shared.domain.events import Criticality, EventDraft, EventStatus, EventTime, EventType
from shared.domain.graph_proposed import Proposal
from shared.domain.supersession import StatusChange
from shared.ids import Prefix, new_id
from shared.store.blocks import NewSummary, get_block, mark_ready, save_summary
from shared.store.database import Database, WriteTx
from shared.store.derived_documents import event_document
from shared.store.event_writes import NewEvent, add_links, apply_status_changes, insert_events
from shared.store.events import EventLink
from shared.store.messages import turns_range
from shared.store.namespaces import lock_projection
from shared.store.search_index import DocumentKind, index_documents
from tests.support.databases import Tenant
from workers.graph_storing import store_proposals

NS = "project:retrieval"
SAID_AT = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


class World:
    """One tenant's namespace: turns through the API, events and nodes through the store."""

    def __init__(self, http: httpx.Client, database: Database, tenant: Tenant) -> None:
        self.http = http
        self.database = database
        self.tenant = tenant
        self.headers = tenant.headers
        self._receipts = 0

    def post(self, path: str, body: Any = None, *, headers: Any = None) -> httpx.Response:
        return self.http.post(
            path, json={} if body is None else body, headers=headers or self.headers
        )

    def get(self, path: str, *, headers: Any = None, **query: Any) -> httpx.Response:
        return self.http.get(path, params=query, headers=headers or self.headers)

    def ask(self, path: str, body: Any = None) -> Any:
        """POST below the namespace's reads and return the answer, which must be 200."""
        answer = self.post(f"/v1/retrieval/{NS}/{path}", body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def see(self, path: str, **query: Any) -> Any:
        """GET below the namespace's reads and return the answer, which must be 200."""
        answer = self.get(f"/v1/retrieval/{NS}/{path}", **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def begin(self, **policy: Any) -> None:
        answer = self.http.put(f"/v1/namespaces/{NS}", json=policy, headers=self.headers)
        assert answer.status_code in (200, 201), answer.text

    def say(self, *said: str, thread_id: str | None = "main", **fields: Any) -> Any:
        """Post one turn: user and assistant in turn."""
        self._receipts += 1
        roles = ("user", "assistant")
        messages = [
            {"role": roles[index % 2], "content": content} for index, content in enumerate(said)
        ]
        body: dict[str, Any] = {
            "receipt_id": f"r{self._receipts}",
            "occurred_at": SAID_AT.isoformat(),
            "messages": messages,
            **fields,
        }
        if thread_id is not None:
            body["thread_id"] = thread_id
        answer = self.post(f"/v1/namespaces/{NS}/turns", body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def seal(self, thread_id: str = "main") -> str:
        answer = self.post(f"/v1/namespaces/{NS}/threads/{thread_id}/seal")
        assert answer.status_code == 200, answer.text
        blocks: list[str] = answer.json()["sealed_block_ids"]
        return blocks[-1]

    def block(self, *said: str, thread_id: str = "main", ready: bool = True, **fields: Any) -> str:
        """Post one turn, seal it, and unless told otherwise make its block ready."""
        self.say(*said, thread_id=thread_id, **fields)
        block_id = self.seal(thread_id)
        if ready:
            self.make_ready(block_id, title=said[0][:60])
        return block_id

    def make_ready(self, block_id: str, title: str = "A title") -> None:
        with self.database.write(self.tenant.tenant_id) as tx:
            save_summary(
                tx,
                NewSummary(
                    block_id=block_id,
                    derivation_version=1,
                    title=title,
                    tags=("tag",),
                    summary=f"Summary of {title}",
                    keypoints=(f"Point of {title}",),
                    should_extract=True,
                    job_id=new_id(Prefix.JOB),
                    prompt_version="1",
                    model="test",
                ),
            )
            assert mark_ready(tx, block_id)

    def event(self, block_id: str, title: str, summary: str = "", **fields: Any) -> str:
        """Store one event that rests on the block's first message, findable as extract does."""
        with self.database.write(self.tenant.tenant_id) as tx:
            return self._insert(tx, block_id, title, summary or title, **fields)

    def events(self, block_id: str, titles: Sequence[str]) -> list[str]:
        """Store an event for each title, as `event` does."""
        with self.database.write(self.tenant.tenant_id) as tx:
            return [self._insert(tx, block_id, title, title) for title in titles]

    def _insert(self, tx: WriteTx, block_id: str, title: str, summary: str, **fields: Any) -> str:
        event_id = new_id(Prefix.EVENT)
        block = get_block(tx, block_id)
        source = turns_range(tx, NS, block.thread_id, first=block.start_turn, last=block.end_turn)[
            0
        ].message
        time = fields.pop("time", None) or EventTime(
            mentioned_at=source.occurred_at, zone=source.zone
        )
        draft = EventDraft(
            title=title,
            summary=summary,
            source_message_ids=(source.id,),
            time=time,
            event_type=fields.pop("event_type", EventType.OTHER),
            criticality=fields.pop("criticality", Criticality.ROUTINE),
            **fields,
        )
        insert_events(
            tx,
            [
                NewEvent(
                    event_id=event_id,
                    draft=draft,
                    namespace=NS,
                    thread_id=block.thread_id,
                    block_id=block_id,
                    derivation_version=1,
                    job_id=new_id(Prefix.JOB),
                    formed_turn=block.formed_turn,
                    zone=UTC,
                )
            ],
        )
        document = event_document(
            event_id, draft, thread_id=block.thread_id, at=time.mentioned_at or SAID_AT
        )
        index_documents(tx, NS, DocumentKind.EVENT, [document])
        return event_id

    def many_events(self, block_id: str, titles: Sequence[str], **fields: Any) -> None:
        """Store many events of one block in one transaction."""
        with self.database.write(self.tenant.tenant_id) as tx:
            for title in titles:
                self._insert(tx, block_id, title, title, **fields)

    def supersede(self, old: str, new: str) -> None:
        with self.database.write(self.tenant.tenant_id) as tx:
            change = StatusChange(
                event_id=old,
                status=EventStatus.SUPERSEDED,
                status_before=EventStatus.ACTIVE,
                superseded_by=new,
            )
            apply_status_changes(tx, [change])
            add_links(tx, [EventLink(new, "supersedes", old)])

    def forget(self, event_id: str) -> None:
        with self.database.write(self.tenant.tenant_id) as tx:
            change = StatusChange(
                event_id=event_id,
                status=EventStatus.FORGOTTEN,
                status_before=EventStatus.ACTIVE,
                superseded_by=None,
            )
            apply_status_changes(tx, [change])

    def project(self, event_ids: Sequence[str], proposal: Proposal) -> None:
        """Fold a proposal into the graph, as a projection of these events."""
        with self.database.write(self.tenant.tenant_id) as tx:
            lock_projection(tx, NS)
            store_proposals(tx, NS, [proposal], job_event_ids=frozenset(event_ids), now=SAID_AT)

    def rows(self, table: str) -> list[Mapping[str, Any]]:
        """Return every column of every row of this tenant, to compare before and after."""
        with self.database.read(self.tenant.tenant_id) as tx:
            found = tx.connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608 - a table's name, ours
            return [dict(row._mapping) for row in found]
