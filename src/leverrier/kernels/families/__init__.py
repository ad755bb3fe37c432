"""Fits of families that are no tables."""
