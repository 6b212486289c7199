"""Printed figures of the papers beside those of stored runs."""
