"""The embedding port and its adapters: texts in, vectors out, in whatever process asks."""
