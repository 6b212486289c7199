"""How often an instance's n-grams stand in a corpus, and what that tells of its verdict."""
