"""Inner loops along time."""
