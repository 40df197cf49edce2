"""Wire models of the ingest service: what it takes and what it answers."""
