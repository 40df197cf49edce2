"""Find texts that today's redaction would change: stored before a rule existed (D27).

Readers never see them as they are, since texts are redacted once more on their way out; they are
listed so that an operator can erase or derive them anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from shared.domain.redaction import redact
from shared.store.database import ReadTx

_PAGE: Final = 500

# Of each: what is named to the operator, and the texts that readers are shown.
_SOURCES: Final = (
    """
    SELECT event_id AS id, namespace, ARRAY[title, summary, narrative, original_text]
        || tags || ARRAY(SELECT q ->> 'text' FROM jsonb_array_elements(quotes) AS q) AS texts
    FROM events WHERE event_id > :after ORDER BY event_id LIMIT :page
    """,
    """
    SELECT message_id AS id, namespace, ARRAY[coalesce(redacted_content, content)] AS texts
    FROM messages WHERE message_id > :after ORDER BY message_id LIMIT :page
    """,
    """
    SELECT fact_id AS id, n.namespace, ARRAY[f.value::text] AS texts
    FROM facts AS f JOIN nodes AS n USING (tenant_id, node_id)
    WHERE fact_id > :after ORDER BY fact_id LIMIT :page
    """,
)


@dataclass(frozen=True, slots=True)
class Unredacted:
    """A row of the namespace that holds what looks like a secret."""

    namespace: str
    subject: str


def unredacted_texts(tx: ReadTx, *, limit: int) -> list[Unredacted]:
    """Return at most `limit` events, messages and facts whose readable text holds a secret."""
    found: list[Unredacted] = []
    for query in _SOURCES:
        for row in _rows(tx, query):
            if len(found) >= limit:
                return found
            if any(redact(one) != one for one in row["texts"] if one):
                found.append(Unredacted(row["namespace"], row["id"]))
    return found


def _rows(tx: ReadTx, query: str) -> Iterator[Mapping[str, Any]]:
    statement, after = text(query), ""
    while (
        rows := tx.connection.execute(statement, {"after": after, "page": _PAGE}).mappings().all()
    ):
        after = rows[-1]["id"]
        yield from (dict(row) for row in rows)
