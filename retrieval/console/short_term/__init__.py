"""The parts of the short-term page: the rail of blocks, one block at every level, the open tail."""
