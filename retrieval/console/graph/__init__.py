"""The graph page in parts: what has been explored, its picture, its table, and one node."""
