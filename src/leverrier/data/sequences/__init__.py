"""Rows in time: sequences, their clock, and what a slice is predicted from."""
