"""Runs made of what others scored: logs of harnesses, tables of predictions."""
