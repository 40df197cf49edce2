"""The migrations in order; a released one is never edited."""
