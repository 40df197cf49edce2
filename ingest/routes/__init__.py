"""The ingest service's HTTP: thin handlers, one file a resource."""

from fastapi import APIRouter

from ingest.routes import jobs, keys, namespaces, turns

router = APIRouter()
for part in (turns, namespaces, jobs, keys):
    router.include_router(part.router)

__all__ = ["router"]
