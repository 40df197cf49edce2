"""External memory imports: read a file, decide, preview, confirm, undo (§22, D26, D47)."""

from ingest.imports.beginning import begin_import
from ingest.imports.confirming import Confirmation, confirm_import
from ingest.imports.reading import PreparedImport, read_import
from ingest.imports.undoing import undo_import
from ingest.imports.views import import_view

__all__ = [
    "Confirmation",
    "PreparedImport",
    "begin_import",
    "confirm_import",
    "import_view",
    "read_import",
    "undo_import",
]
