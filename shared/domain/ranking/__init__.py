"""How messages and blocks are ranked: inspectable signals of 0 to 1, weighted and added (D22)."""
