"""A run's parts made on several machines or cards."""
