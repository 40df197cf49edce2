"""Evaluation: a client of the API that measures it on labelled conversations."""
