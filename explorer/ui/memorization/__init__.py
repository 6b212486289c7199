"""Views and figures of extraction and membership."""
