"""The tables of a run: their schema, and records as their rows."""
