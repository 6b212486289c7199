"""Tables of one's own: what their columns are, and the instances they make."""
