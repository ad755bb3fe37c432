"""Inference along time."""
