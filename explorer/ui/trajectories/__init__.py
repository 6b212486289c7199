"""Screens of trajectories: findings over training, size and seed, and when instances were learned."""
