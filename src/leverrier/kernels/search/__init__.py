"""Inner loops of structure search."""
