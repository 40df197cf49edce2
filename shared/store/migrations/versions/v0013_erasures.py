"""Erasures, their tombstones and certificates."""

from __future__ import annotations

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create what the release needs of this."""
