"""Views and figures of synonym swaps."""
