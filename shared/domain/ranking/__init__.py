"""How messages, blocks, events and nodes are ranked: signals of 0 to 1, weighted, added (D22)."""
