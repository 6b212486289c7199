"""Views and figures of contexts."""
