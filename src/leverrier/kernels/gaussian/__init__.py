"""Inner loops over rows of numbers."""
