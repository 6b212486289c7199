"""The command line, one family of commands a file."""
