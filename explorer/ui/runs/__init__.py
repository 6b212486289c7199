"""Stored runs: list, details, comparison, import."""
