"""The ingest service's HTTP: thin handlers, one file a resource."""

from fastapi import APIRouter

from ingest.routes import (
    audit_log,
    conflicts,
    curation,
    erasures,
    exports,
    host_events,
    imports,
    jobs,
    keys,
    namespaces,
    policy,
    reprocess,
    turns,
    usage,
)

router = APIRouter()
for part in (
    turns,
    host_events,
    namespaces,
    policy,
    curation,
    conflicts,
    erasures,
    exports,
    imports,
    jobs,
    keys,
    reprocess,
    usage,
    audit_log,
):
    router.include_router(part.router)

__all__ = ["router"]
