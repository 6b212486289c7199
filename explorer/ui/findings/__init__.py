"""Measures of several studies against each other."""
