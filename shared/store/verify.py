"""Verify a tenant's memory: every derived row has its sources, counters and jobs agree.

Each check is one query that returns what breaks it; a healthy tenant returns nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text

from shared.domain.derivation import without_memory_context
from shared.domain.external_memory_preview import stands_in
from shared.domain.provenance import folded, text_of
from shared.domain.search_terms import search_terms
from shared.domain.turns import IMPORT_THREADS, Message, Origin
from shared.store.database import ReadTx
from shared.store.events import recent_events
from shared.store.messages import messages_by_id
from shared.store.unredacted import unredacted_texts


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, and the query that finds what breaks it (columns: namespace, subject)."""

    name: str
    promise: str
    query: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that breaks a promise."""

    check: str
    promise: str
    namespace: str
    subject: str


_SHOWN = 50

_WITHOUT_DOCUMENT = text(
    """
    SELECT m.namespace, m.message_id AS subject FROM messages m
    WHERE m.role <> 'system' AND m.message_id > :after AND NOT EXISTS (
        SELECT FROM search_documents d WHERE d.tenant_id = m.tenant_id
        AND d.namespace = m.namespace AND d.kind = 'message' AND d.document_id = m.message_id)
    ORDER BY m.message_id LIMIT 500
    """
)

_RECORD_WITHOUT_SOURCE = """
    SELECT v.namespace, r.{record}_id AS subject
    FROM {record}s r JOIN nodes v ON v.tenant_id = r.tenant_id AND v.node_id = r.{node}
    WHERE NOT EXISTS (SELECT FROM {record}_sources s WHERE s.tenant_id = r.tenant_id
                      AND s.{record}_id = r.{record}_id)
"""

CHECKS: tuple[Check, ...] = (
    Check(
        "turn_has_messages",
        "every turn has messages",
        """
        SELECT t.namespace, t.turn_id AS subject FROM turns t
        WHERE NOT EXISTS (SELECT FROM messages m WHERE m.tenant_id = t.tenant_id
                          AND m.turn_id = t.turn_id)
        """,
    ),
    Check(
        "thread_counters",
        "a thread's counters equal its turns, blocks and ready blocks, with those erased since",
        """
        SELECT h.namespace, h.thread_id AS subject FROM threads h
        LEFT JOIN LATERAL (
            SELECT count(*) AS n, coalesce(max(t.sequence), 0) AS last FROM turns t
            WHERE t.tenant_id = h.tenant_id AND t.namespace = h.namespace
              AND t.thread_id = h.thread_id) AS said ON true
        LEFT JOIN LATERAL (
            SELECT count(*) AS n, coalesce(max(b.end_turn), 0) AS sealed,
                   count(*) FILTER (WHERE s.status = 'ready') AS ready
            FROM blocks b JOIN block_states s USING (tenant_id, block_id)
            WHERE b.tenant_id = h.tenant_id AND b.namespace = h.namespace
              AND b.thread_id = h.thread_id) AS cut ON true
        WHERE h.turn_count <> said.n + h.erased_turn_count
           OR (h.turn_count <> said.last AND h.erased_turn_count = 0)
           OR h.turn_count < said.last OR h.block_count <> cut.n
           OR (h.sealed_turn_count <> cut.sealed AND h.erased_turn_count = 0)
           OR h.sealed_turn_count < cut.sealed OR h.ready_count <> cut.ready
        """,
    ),
    Check(
        "namespace_counters",
        "a namespace's counters equal its turns and blocks, with those erased since",
        """
        SELECT n.namespace, n.namespace AS subject FROM namespaces n
        WHERE n.turn_count - n.erased_turn_count <> (
            SELECT count(*) FROM turns t
            WHERE t.tenant_id = n.tenant_id AND t.namespace = n.namespace AND t.namespace_turn > 0)
           OR n.block_count - n.erased_block_count <> (
            SELECT count(*) FROM blocks b
            WHERE b.tenant_id = n.tenant_id AND b.namespace = n.namespace) + (
            SELECT count(*) FROM imports i
            WHERE i.tenant_id = n.tenant_id AND i.namespace = n.namespace AND i.state = 'undone'
              AND i.source_block_id IS NOT NULL AND i.content <> '')
        """,
    ),
    Check(
        "blocks_contiguous",
        "a thread's blocks cover its turns without overlap, with gaps where some were erased alone",
        """
        SELECT namespace, block_id AS subject FROM (
            SELECT namespace, block_id, start_turn, h.erased_turn_count,
                   coalesce(lag(end_turn) OVER (PARTITION BY namespace, thread_id
                            ORDER BY start_turn), 0) AS before
            FROM blocks JOIN threads h USING (tenant_id, namespace, thread_id)) AS b
        WHERE start_turn <= before OR (start_turn <> before + 1 AND erased_turn_count = 0)
        """,
    ),
    Check(
        "block_has_layers",
        "every block has its L3, L4 and L5 and a state",
        """
        SELECT b.namespace, b.block_id AS subject FROM blocks b
        WHERE (SELECT count(*) FROM block_layers l WHERE l.tenant_id = b.tenant_id
               AND l.block_id = b.block_id) <> 3
           OR NOT EXISTS (SELECT FROM block_states s WHERE s.tenant_id = b.tenant_id
                          AND s.block_id = b.block_id)
        """,
    ),
    Check(
        "ready_block_is_derived",
        "a ready block has L0-L2 and an extraction that ended",
        """
        SELECT s.namespace, s.block_id AS subject
        FROM block_states s JOIN namespaces n USING (tenant_id, namespace)
        WHERE s.status = 'ready' AND (
            NOT EXISTS (SELECT FROM block_summaries y WHERE y.tenant_id = s.tenant_id
                        AND y.block_id = s.block_id)
            OR EXISTS (SELECT FROM jobs j WHERE j.tenant_id = s.tenant_id
                       AND j.subject = s.block_id AND j.kind = 'extract'
                       AND j.state IN ('dead', 'cancelled')
                       AND NOT EXISTS (SELECT FROM jobs k WHERE k.tenant_id = j.tenant_id
                                       AND k.subject = j.subject AND k.kind = j.kind
                                       AND k.job_id > j.job_id)
                       AND NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = s.tenant_id
                                       AND e.block_id = s.block_id)))
        """,
    ),
    Check(
        "unready_block_has_job",
        "an unready block has a job that is live or that a person can retry",
        """
        SELECT s.namespace, s.block_id AS subject FROM block_states s
        WHERE s.status = 'pending' AND NOT EXISTS (
            SELECT FROM jobs j WHERE j.tenant_id = s.tenant_id AND j.subject = s.block_id
            AND j.kind IN ('summarize', 'extract')
            AND j.state IN ('available', 'running', 'retryable', 'dead', 'degraded', 'cancelled'))
        """,
    ),
    Check(
        "event_has_sources",
        "every event cites a message of its own block",
        """
        SELECT e.namespace, e.event_id AS subject
        FROM events e JOIN blocks b USING (tenant_id, block_id)
        WHERE NOT EXISTS (
            SELECT FROM event_sources c JOIN messages m USING (tenant_id, message_id)
            WHERE c.tenant_id = e.tenant_id AND c.event_id = e.event_id
              AND m.namespace = b.namespace AND m.thread_id = b.thread_id
              AND m.turn_sequence BETWEEN b.start_turn AND b.end_turn)
        """,
    ),
    Check(
        "superseded_names_successor",
        "a superseded event names an event that exists",
        """
        SELECT e.namespace, e.event_id AS subject FROM events e
        WHERE e.status = 'superseded' AND NOT EXISTS (
            SELECT FROM events s WHERE s.tenant_id = e.tenant_id
            AND s.event_id = e.superseded_by AND s.namespace = e.namespace)
        """,
    ),
    Check(
        "conflicts_both_ways",
        "a conflict is linked in both directions",
        """
        SELECT e.namespace, l.event_id AS subject
        FROM event_links l JOIN events e USING (tenant_id, event_id)
        WHERE l.kind = 'conflicts_with' AND NOT EXISTS (
            SELECT FROM event_links r WHERE r.tenant_id = l.tenant_id AND r.kind = l.kind
            AND r.event_id = l.other_event_id AND r.other_event_id = l.event_id)
        """,
    ),
    Check(
        "mentions_equal_receipts",
        "an event was reinforced once for each receipt that used it",
        """
        SELECT e.namespace, e.event_id AS subject FROM events e
        WHERE e.mention_count <> 1 + (
            SELECT count(*) FROM use_receipt_events u WHERE u.tenant_id = e.tenant_id
            AND u.event_id = e.event_id AND u.reinforced)
        """,
    ),
    *(
        Check(
            f"{record}_has_sources",
            f"every {record} of the graph rests on an event",
            _RECORD_WITHOUT_SOURCE.format(record=record, node=node),
        )
        for record, node in (
            ("node", "node_id"),
            ("label", "node_id"),
            ("fact", "node_id"),
            ("edge", "from_node_id"),
        )
    ),
    Check(
        "event_is_findable",
        "every event has its search document",
        """
        SELECT e.namespace, e.event_id AS subject
        FROM events e JOIN namespaces n USING (tenant_id, namespace)
        WHERE e.derivation_version = n.derivation_version AND NOT EXISTS (
            SELECT FROM search_documents d WHERE d.tenant_id = e.tenant_id
            AND d.namespace = e.namespace AND d.kind = 'event' AND d.document_id = e.event_id)
        """,
    ),
    Check(
        "running_job_is_leased",
        "no job runs beyond its lease for more than five minutes",
        """
        SELECT namespace, job_id AS subject FROM jobs
        WHERE state = 'running' AND lease_until < now() - interval '5 minutes'
        """,
    ),
)


def verify_tenant(tx: ReadTx) -> list[Finding]:
    """Run every check for the transaction's tenant and return what breaks them, if anything.

    At most 50 findings a check are returned.
    """
    findings = [
        Finding(check.name, check.promise, row.namespace, row.subject)
        for check in CHECKS
        for row in tx.connection.execute(text(f"{check.query} LIMIT {_SHOWN}"))
    ]
    findings += _messages_not_findable(tx) + _quotes_not_in_their_message(tx)
    promise = "what readers see was redacted before it was stored"
    return findings + [
        Finding("text_is_redacted", promise, one.namespace, one.subject)
        for one in unredacted_texts(tx, limit=_SHOWN)
    ]


def _messages_not_findable(tx: ReadTx) -> list[Finding]:
    """Find messages with words but no document; a smiley or a bare tool call has no words."""
    findings: list[Finding] = []
    after = ""
    while len(findings) < _SHOWN:
        rows = tx.connection.execute(_WITHOUT_DOCUMENT, {"after": after}).all()
        if not rows:
            break
        after = rows[-1].subject
        messages = messages_by_id(tx, [row.subject for row in rows])
        findings += [
            Finding(
                "message_is_findable",
                "every message with words has its search document",
                row.namespace,
                row.subject,
            )
            for row in rows
            if _has_words(messages[row.subject].message)
        ]
    return findings[:_SHOWN]


def _has_words(message: Message) -> bool:
    if message.origin is Origin.INJECTED:
        return False  # what memory itself put there must not find itself
    return bool(search_terms(without_memory_context(message.content)))


def _quotes_not_in_their_message(tx: ReadTx) -> list[Finding]:
    findings = []
    namespaces = tx.connection.execute(
        text("SELECT namespace, derivation_version AS version FROM namespaces ORDER BY namespace")
    ).all()
    for namespace, version in namespaces:
        before: str | None = None
        while page := recent_events(tx, namespace, version=version, limit=500, before=before):
            before = page[-1].event_id
            cited = {quote.message_id for event in page for quote in event.quotes}
            sources = messages_by_id(tx, cited)
            findings += [
                Finding(
                    "quote_is_verbatim",
                    "every quote stands in its message",
                    namespace,
                    event.event_id,
                )
                for event in page
                for quote in event.quotes
                if quote.message_id not in sources
                or not _is_verbatim(quote.text, sources[quote.message_id].message)
            ]
    return findings


def _is_verbatim(quote: str, message: Message) -> bool:
    if folded(quote) in folded(text_of(message)):
        return True
    # The text of an import is JSON, which writes some signs in another way.
    is_import = (message.thread_id or "").startswith(IMPORT_THREADS)
    return is_import and stands_in(quote, message)
