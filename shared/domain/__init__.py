"""The pure domain: frozen values and functions that take `now`, `turn` and `lambda`; no I/O."""
