"""Alembic migrations: forward only, expand then contract, each under a lock timeout."""
