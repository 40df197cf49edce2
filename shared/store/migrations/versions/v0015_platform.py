"""Limits, quotas and the overlap of rotated keys."""

from __future__ import annotations

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create what the release needs of this."""
