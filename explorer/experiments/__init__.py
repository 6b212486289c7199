"""One study a file, each a recipe: load, vary, ask, score, count, save."""
