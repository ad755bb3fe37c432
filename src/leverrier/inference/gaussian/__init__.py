"""Passes over rows of numbers."""
