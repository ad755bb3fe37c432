"""Inner loops of counting."""
