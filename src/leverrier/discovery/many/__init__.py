"""Many hidden variables at once, in layers, in wide tables (docs/decisions/0020-many-at-once.md)."""
