"""Two texts in, how alike they are out."""
