"""One step of the walk a file: load, think, store. Steps meet only through jobs."""
