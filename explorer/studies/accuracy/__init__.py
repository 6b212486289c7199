"""Which option the model prefers, and how often it is the right one."""
