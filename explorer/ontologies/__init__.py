"""Ontology files in, concepts out."""
