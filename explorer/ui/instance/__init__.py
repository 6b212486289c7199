"""One instance: its options, tokens, n-grams, and the reader's own text."""
