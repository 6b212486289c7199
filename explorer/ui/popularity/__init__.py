"""Views and figures of popularity in a corpus."""
