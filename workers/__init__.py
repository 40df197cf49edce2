"""Derive: everything that calls a model, and the upkeep of the queue."""
