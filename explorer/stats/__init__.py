"""Arrays in, small frozen estimates out."""
