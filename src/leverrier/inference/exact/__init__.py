"""Exact inference: clique trees, and the E-step over groups of unobserved variables."""
