"""A finding or a frame in, a Plotly figure out."""
