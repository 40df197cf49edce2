"""The parts of the overview."""
