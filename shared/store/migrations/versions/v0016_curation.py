"""Curation: what people decided about events and conflicts."""

from __future__ import annotations

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create what the release needs of this."""
