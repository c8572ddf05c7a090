"""Traces: the record of a session, read back into one state."""
