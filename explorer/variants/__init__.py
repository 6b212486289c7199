"""Instances made from instances."""
