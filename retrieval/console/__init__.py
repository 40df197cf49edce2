"""The memory console: a process of its own that shows people what is remembered, and why.

A client of the HTTP API and nothing else: it imports no other part of StrataGate but settings,
logs and errors, and sees exactly what the signed-in key may see.
"""
