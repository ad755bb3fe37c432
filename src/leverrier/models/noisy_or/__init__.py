"""Overlapping causes."""
