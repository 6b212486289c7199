"""Requests in, scores out, in the order asked."""
