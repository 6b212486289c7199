"""A source in, instances out."""
