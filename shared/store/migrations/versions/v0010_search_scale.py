"""Search at scale: room for what large namespaces need."""

from __future__ import annotations

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create what the release needs of this."""
