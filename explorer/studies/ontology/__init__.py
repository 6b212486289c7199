"""Asking a model for the IDs of concepts by their labels."""
