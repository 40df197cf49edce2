"""Stop what works on text that is being erased, and take that text out of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.store.database import WriteTx

SOURCE_ERASED: Final = "source_erased"
_ABOUT_BLOCKS = "(subject = ANY(:block_ids) OR payload ->> 'block_id' = ANY(:block_ids))"
_CANCEL = text(
    f"""
    UPDATE jobs SET state = 'cancelled', reason = '{SOURCE_ERASED}', lease_token = NULL,
        lease_until = NULL, finalized_at = now()
    WHERE tenant_id = :tenant_id AND namespace = :namespace
      AND state IN ('available', 'running', 'retryable')
      AND kind IN ('summarize', 'extract', 'project') AND {_ABOUT_BLOCKS}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(bindparam("block_ids", type_=ARRAY(Text)))
_WIPE = text(
    f"""
    UPDATE jobs SET errors = '[]', rejections = '[]', result = '{{}}'
    WHERE tenant_id = :tenant_id AND namespace = :namespace
      AND kind IN ('summarize', 'extract', 'project') AND {_ABOUT_BLOCKS}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(bindparam("block_ids", type_=ARRAY(Text)))
# What runs may have read what goes: it loses its lease, so that nothing of it can be stored, and
# starts over from what is left.
_RESTART = text(
    """
    UPDATE jobs SET state = 'available', attempt = attempt - 1, lease_token = NULL,
        lease_until = NULL, rung_at = NULL, scheduled_at = now(), reason = 'started over'
    WHERE tenant_id = :tenant_id AND namespace = :namespace AND state = 'running'
      AND kind <> 'erase'
    """
)
_FORGET_REPLIES = text(
    """
    UPDATE model_calls SET detail = NULL
    WHERE tenant_id = :tenant_id AND namespace = :namespace AND detail IS NOT NULL
    """
)


def stop_jobs(tx: WriteTx, namespace: str, block_ids: Sequence[str]) -> int:
    """Cancel the live jobs of blocks, let what else runs in the namespace start over.

    The stored replies of models go too: any may quote what is erased. Returns how many jobs were
    cancelled.
    """
    values = {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "block_ids": list(block_ids),
    }
    cancelled = tx.connection.execute(_CANCEL, values).rowcount
    tx.connection.execute(_WIPE, values)
    place = {"tenant_id": tx.tenant_id, "namespace": namespace}
    tx.connection.execute(_RESTART, place)
    tx.connection.execute(_FORGET_REPLIES, place)
    return cancelled
