"""The HTTP edge that every service stands on: one application shape, one form of error."""
