"""A run's spec in, a run folder out."""
