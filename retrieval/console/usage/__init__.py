"""The usage audit in parts: the chain of one use, and a thread's transcript."""
