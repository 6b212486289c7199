"""Lexiscope: how pre-training data shapes what a language model gets right."""

__version__ = "0.1.0"
