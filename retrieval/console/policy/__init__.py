"""The settings page in parts: what can be set, its form, and the picture of what decay does."""
