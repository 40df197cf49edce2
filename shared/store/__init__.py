"""The only SQL: tables, migrations and one file a family of queries."""
