"""Which version a row belongs to, as conditions: the live one unless another is named (D19).

An event belongs to the derivation it was written in, and to those it was carried over into.
Search documents stand beside each other by version, so that a switch moves none of them.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, or_, select

from shared.store.database import ReadTx
from shared.store.direct import Direct
from shared.store.search_keys import DocumentKind
from shared.store.tables import carried_events, events, namespaces

_LIVE_DERIVATION: Final = Direct(
    "SELECT derivation_version FROM namespaces "
    "WHERE tenant_id = :tenant_id AND namespace = :namespace"
)


def in_version(
    version: int | ColumnElement[Any] | ScalarSelect[Any], table: FromClause = events
) -> ColumnElement[bool]:
    """Return the condition that an event belongs to a derivation version."""
    carried = select(carried_events.c.event_id).where(
        carried_events.c.tenant_id == table.c.tenant_id,
        carried_events.c.event_id == table.c.event_id,
        carried_events.c.derivation_version == version,
    )
    return or_(table.c.derivation_version == version, carried.exists())


def live_derivation(table: FromClause = events) -> ScalarSelect[Any]:
    """Return the derivation version that the namespace of a row of `table` is switched to."""
    return (
        select(namespaces.c.derivation_version)
        .where(
            namespaces.c.tenant_id == table.c.tenant_id,
            namespaces.c.namespace == table.c.namespace,
        )
        .correlate(table)
        .scalar_subquery()
    )


def live_derivation_version(tx: ReadTx, namespace: str) -> int:
    """Return the derivation version that a namespace is switched to now."""
    version: int = _LIVE_DERIVATION.scalar(tx, namespace=namespace)
    return version


def live_document_version(tx: ReadTx, namespace: str, kind: DocumentKind) -> str:
    """Return the version whose documents of a kind are live, as search documents name it.

    Messages have none; a namespace without a graph has no nodes to find.
    """
    if kind is DocumentKind.MESSAGE:
        return ""
    live = (
        namespaces.c.graph_version_id
        if kind is DocumentKind.NODE
        else namespaces.c.derivation_version
    )
    version = tx.connection.execute(
        select(live).where(
            namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace
        )
    ).scalar()
    return "" if version is None else str(version)
