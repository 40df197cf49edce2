"""The ask page in parts: searches, what they found, the gate, and the context an agent gets."""
