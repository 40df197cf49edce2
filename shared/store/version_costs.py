"""How much text a batch re-derivation reads: tokens of each job, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from shared.domain.jobs import JobKind
from shared.domain.reprocessing import Reprocess
from shared.store.database import ReadTx
from shared.store.graph_versions import GraphVersion
from shared.store.tables import block_layers, events
from shared.store.version_building import covered
from shared.store.versions import in_version, live_derivation

_WHOLE = 5
_CHARACTERS_A_TOKEN = 4


def material_of(
    tx: ReadTx, version: GraphVersion, asked: Reprocess, block_ids: Sequence[str]
) -> dict[str, list[int]]:
    """Return the tokens of each job's text by step, for the blocks that are enlisted.

    A block's text is read once by each step before projection, the text of its present events
    by projection.
    """
    anew = sorted(covered(tx, asked, block_ids))
    said = list(
        tx.connection.execute(
            select(block_layers.c.tokens).where(
                block_layers.c.tenant_id == tx.tenant_id,
                block_layers.c.block_id.in_(anew),
                block_layers.c.level == _WHOLE,
            )
        ).scalars()
    )
    material = {kind.value: said for kind in asked.stages if kind is not JobKind.PROJECT}
    length = func.sum(func.char_length(events.c.title) + func.char_length(events.c.summary))
    told = tx.connection.execute(
        select(length)
        .where(
            events.c.tenant_id == tx.tenant_id,
            events.c.namespace == version.namespace,
            events.c.block_id.in_(block_ids),
            in_version(live_derivation()),
        )
        .group_by(events.c.block_id)
    ).scalars()
    return {**material, JobKind.PROJECT.value: [1 + one // _CHARACTERS_A_TOKEN for one in told]}
