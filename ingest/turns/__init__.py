"""Take a turn: read it, redact it, count its terms, and commit it in one transaction."""

from ingest.turns.commit import commit_turn
from ingest.turns.prepare import PreparedTurn, prepare_turn

__all__ = ["PreparedTurn", "commit_turn", "prepare_turn"]
