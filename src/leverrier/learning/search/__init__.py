"""Structure search. It sees scores of families, never data."""
