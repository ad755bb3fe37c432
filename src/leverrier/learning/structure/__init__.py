"""Scores and structure search: it sees scores of families, never data."""
