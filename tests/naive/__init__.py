"""Slow, readable twins of the fast code: tests compare the two."""
