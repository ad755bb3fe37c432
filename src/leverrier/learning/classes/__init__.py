"""One hidden class behind all columns."""
