"""Replicating instances of a data set from k demonstrations."""
