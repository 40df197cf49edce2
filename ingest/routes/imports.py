"""External memory over HTTP: begin an import, look at its preview, confirm it, undo it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse

from ingest.imports import (
    Confirmation,
    begin_import,
    confirm_import,
    import_view,
    read_import,
    undo_import,
)
from ingest.imports.asking import import_prompt
from ingest.schemas.imports import (
    ConfirmIn,
    DecisionIn,
    ImportBegun,
    ImportCommitted,
    ImportIn,
    ImportPrompt,
    ImportUndone,
    ImportView,
)
from shared.domain.external_memory import normalise_candidate
from shared.domain.external_memory_answers import Answer
from shared.domain.external_memory_decide import ImportAction
from shared.domain.external_memory_stored import redacted_candidate
from shared.domain.tenancy import Caller, Permission
from shared.errors import NotFound
from shared.http.dependencies import (
    ClockOf,
    DatabaseOf,
    IdempotencyKey,
    SettingsOf,
    caller,
    reach,
)
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.database import ReadTx
from shared.store.imports import get_import
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["imports"])
Ingester = Annotated[Caller, Depends(caller(Permission.INGEST))]
Confirmer = Annotated[Caller, Depends(caller(Permission.INGEST, Permission.CURATE))]
Watcher = Annotated[Caller, Depends(caller(Permission.READ, Permission.INGEST, Permission.CURATE))]


@router.post(
    "/namespaces/{ns}/imports",
    status_code=202,
    response_model=ImportBegun,
    openapi_extra=refuses("unreadable_import", "quota_jobs", "quota_storage"),
    summary="Import what another assistant remembers",
)
def post_import(
    ns: str,
    body: ImportIn,
    caller: Ingester,
    database: DatabaseOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """Nothing is written into memory before the import is confirmed; watch it by its id."""
    namespace = reach(caller, ns)
    prepared = read_import(body)
    content = body.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    receipt = Receipt(namespace, "import", key, request_hash(content)) if key else None
    with database.write(caller.tenant_id) as tx:
        answer = once(
            tx,
            receipt,
            lambda: begin_import(tx, caller, namespace, prepared, settings=settings),
        )
    return JSONResponse(answer, 202)


@router.get("/imports/{imp}", response_model=ImportView, summary="An import's preview and progress")
def get_import_page(imp: str, caller: Watcher, database: DatabaseOf) -> JSONResponse:
    """Per candidate: what it resembles, what was decided and how sure, and what came of it."""
    import_id = check_id(imp, Prefix.IMPORT, "/path/imp")
    with database.read(caller.tenant_id) as tx:
        _namespace_of(tx, caller, import_id)
        view = import_view(tx, import_id)
    return JSONResponse(view)


@router.post(
    "/imports/{imp}/confirm",
    response_model=ImportCommitted,
    openapi_extra=refuses(
        "import_not_ready",
        "confirmation_required",
        "stale_targets",
        "import_committed",
        "import_undone",
        "import_erased",
        "unknown_candidate",
        "repeated_candidate",
        "target_required",
        "target_not_allowed",
        "illegal_target",
    ),
    summary="Commit an import",
)
def post_confirm(
    imp: str,
    body: ConfirmIn,
    caller: Confirmer,
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """All of it or nothing. What waits for a person needs an answer, or `ignore_unanswered`."""
    import_id = check_id(imp, Prefix.IMPORT, "/path/imp")
    said = Confirmation(tuple(_answer(one) for one in body.decisions), body.ignore_unanswered)
    with database.write(caller.tenant_id) as tx:
        namespace = _namespace_of(tx, caller, import_id)
        asked = [import_id, body.model_dump(mode="json", exclude_defaults=True)]
        receipt = Receipt(namespace, "import.confirm", key, request_hash(asked)) if key else None
        answer = once(
            tx,
            receipt,
            lambda: confirm_import(tx, caller, import_id, said, now=clock.now(), settings=settings),
        )
    return JSONResponse(answer)


@router.post(
    "/imports/{imp}/undo",
    response_model=ImportUndone,
    openapi_extra=refuses("import_not_committed", "import_has_dependants"),
    summary="Take a committed import back",
)
def post_undo(
    imp: str, caller: Confirmer, database: DatabaseOf, clock: ClockOf, key: IdempotencyKey
) -> JSONResponse:
    """Memory is as it was before. A 409 names what came later and rests on the import."""
    import_id = check_id(imp, Prefix.IMPORT, "/path/imp")
    with database.write(caller.tenant_id) as tx:
        namespace = _namespace_of(tx, caller, import_id)
        receipt = Receipt(namespace, "import.undo", key, request_hash([import_id])) if key else None
        answer = once(tx, receipt, lambda: undo_import(tx, caller, import_id, now=clock.now()))
    return JSONResponse(answer)


@router.get(
    "/import-prompt",
    response_model=ImportPrompt,
    summary="The prompt to paste into the other assistant",
)
def get_import_prompt(
    caller: Watcher, language: Annotated[Literal["en", "zh"], Query()] = "en"
) -> JSONResponse:
    """It asks for what that assistant can reach, one fact a candidate, and no guessed date."""
    del caller
    return JSONResponse(import_prompt(language))


def _namespace_of(tx: ReadTx, caller: Caller, import_id: str) -> str:
    """Return the namespace of an import that the key reaches; NotFound tells neither apart."""
    namespace = get_import(tx, import_id).namespace
    if not caller.reaches(namespace):
        raise NotFound("no such import")
    return namespace


def _answer(said: DecisionIn) -> Answer:
    merged = normalise_candidate(said.merged.model_dump()) if said.merged else None
    return Answer(
        position=said.candidate_index,
        action=ImportAction(said.action),
        existing_event_ids=tuple(dict.fromkeys(said.existing_event_ids)),
        merged=None if merged is None else redacted_candidate(merged),
    )
