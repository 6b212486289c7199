"""Views and figures of ontology IDs."""
