"""Views and figures of in-context replication."""
