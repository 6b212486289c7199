"""The corpus searched: what it holds of a text, how often, where, and what follows there."""
