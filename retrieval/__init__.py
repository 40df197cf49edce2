"""The read side: search, expand, gate, receipt. Never calls a language model."""
