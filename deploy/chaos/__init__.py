"""Chaos: break a running stack in every way of a table, and prove that its promises still hold."""
