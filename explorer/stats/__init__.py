"""Arrays in, small frozen findings out."""
