"""What greets the first visit."""
