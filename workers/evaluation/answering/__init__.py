"""The answer track: a model answers labelled questions with and without memory, and is judged."""
