"""The declared tables; a test holds them against the migrated schema. Private to the store."""

from shared.store.tables.base import metadata
from shared.store.tables.blocks import block_layers, block_states, block_summaries, blocks
from shared.store.tables.curation import conflicts
from shared.store.tables.erasures import erasure_keys, erasures, tombstones
from shared.store.tables.events import event_links, event_sources, events
from shared.store.tables.exports import export_chunks, exports, receipt_origins
from shared.store.tables.graph import (
    edge_sources,
    edges,
    fact_sources,
    facts,
    graph_versions,
    label_sources,
    labels,
    node_sources,
    nodes,
)
from shared.store.tables.imports import import_candidates, import_graph_changes, imports
from shared.store.tables.jobs import jobs, model_calls
from shared.store.tables.reprocess import carried_events, version_blocks
from shared.store.tables.retrieval import (
    assessments,
    batch_items,
    batches,
    use_receipt_events,
    use_receipts,
)
from shared.store.tables.search import (
    search_corpora,
    search_documents,
    search_postings,
    search_waiting,
)
from shared.store.tables.tenancy import (
    api_keys,
    audit_log,
    namespaces,
    request_allowances,
    tenants,
    threads,
)
from shared.store.tables.turns import messages, request_receipts, turns
from shared.store.tables.vectors import event_vectors, message_vectors

__all__ = [
    "api_keys",
    "assessments",
    "audit_log",
    "batch_items",
    "batches",
    "block_layers",
    "block_states",
    "block_summaries",
    "blocks",
    "carried_events",
    "conflicts",
    "edge_sources",
    "edges",
    "erasure_keys",
    "erasures",
    "event_links",
    "event_sources",
    "event_vectors",
    "events",
    "export_chunks",
    "exports",
    "fact_sources",
    "facts",
    "graph_versions",
    "import_candidates",
    "import_graph_changes",
    "imports",
    "jobs",
    "label_sources",
    "labels",
    "message_vectors",
    "messages",
    "metadata",
    "model_calls",
    "namespaces",
    "node_sources",
    "nodes",
    "receipt_origins",
    "request_allowances",
    "request_receipts",
    "search_corpora",
    "search_documents",
    "search_postings",
    "search_waiting",
    "tenants",
    "threads",
    "tombstones",
    "turns",
    "use_receipt_events",
    "use_receipts",
    "version_blocks",
]
