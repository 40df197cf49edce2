"""The local stack: set up, run, test and stop StrataGate on one machine."""
