"""The write edge: accept a turn, commit it, seal blocks. Never waits on a model or the broker."""
