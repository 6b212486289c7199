"""N-grams in, corpus counts and popularity out."""
