"""Who reads what, and when: the fixed facts of one request that every use case needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.embeddings.asking import QueryVector
from shared.store.event_search import EventScope
from shared.store.namespaces import NamespaceRow


@dataclass(frozen=True, slots=True)
class Reader:
    """One reading of one namespace.

    `thread_id` is the conversation that asks, None when it did not say. `sees_source` is true
    for admin keys alone: they may read a block's L5 as it was sent (D38). `meaning` is the vector
    of what is looked for, made before the transaction began; None where vectors are off.
    """

    namespace: NamespaceRow
    key_id: str
    now: datetime
    batch_ttl_s: int
    thread_id: str | None = None
    sees_source: bool = False
    meaning: QueryVector | None = None

    @property
    def name(self) -> str:
        """The namespace's name."""
        return self.namespace.namespace

    @property
    def version(self) -> int:
        """The derivation version that the namespace is switched to (D19)."""
        return self.namespace.derivation_version

    @property
    def scope(self) -> EventScope:
        """The events this reader may find."""
        return EventScope(self.name, self.version)
