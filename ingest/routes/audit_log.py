"""The audit log over HTTP: who did what to what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse

from ingest.schemas.usage import AuditPage
from shared.auth import reach
from shared.domain.redaction import redact_value
from shared.domain.tenancy import Caller, Permission, check_name
from shared.http.dependencies import DatabaseOf, caller
from shared.http.paging import PageOf
from shared.store.audit import StoredAudit, list_entries

router = APIRouter(prefix="/v1", tags=["administration"])
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]


@router.get("/audit-log", response_model=AuditPage, summary="Read the audit log, newest first")
def get_audit_log(
    caller: Admin,
    database: DatabaseOf,
    page: PageOf,
    namespace: Annotated[str | None, Query()] = None,
    action: Annotated[str | None, Query(max_length=100)] = None,
    subject: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """A key with a list of namespaces sees their entries alone."""
    if namespace is not None:
        reach(caller, check_name(namespace, "/query/namespace"))
    with database.read(caller.tenant_id) as tx:
        found = list_entries(
            tx,
            namespace=namespace,
            subject=subject,
            action=action,
            before=page.after,
            limit=page.probe,
            only=caller.namespaces,
        )
    return JSONResponse(page.answer(found, key=lambda one: one.audit_id, view=_view))


def _view(stored: StoredAudit) -> dict[str, Any]:
    entry = stored.entry
    return {
        "audit_id": stored.audit_id,
        "created_at": stored.created_at.isoformat(),
        "action": entry.action,
        "namespace": entry.namespace,
        "key_id": entry.key_id,
        "subject": entry.subject,
        "detail": redact_value(dict(entry.detail)),
    }
