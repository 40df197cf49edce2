"""The import page in parts: where it begins, the decisions of a person, candidates, and its end."""
