"""Extraction and membership scores of texts."""
