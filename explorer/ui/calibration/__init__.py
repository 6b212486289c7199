"""Screens that hold methods against the truth planted in the glass box."""
