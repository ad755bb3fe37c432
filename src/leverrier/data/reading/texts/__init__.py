"""Texts of a file: their encoding, and what numbers, dates and times look like where people write them."""
