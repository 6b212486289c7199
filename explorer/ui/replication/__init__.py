"""The board of printed figures."""
