"""The local stack: embedded servers and the processes of StrataGate on one machine.

Nothing here is needed in production, where two URLs name the database and the broker.
"""
