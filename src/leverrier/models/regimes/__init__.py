"""Sequences of numbers, counts and categories with a hidden state that moves, or stays: one emission protocol."""
