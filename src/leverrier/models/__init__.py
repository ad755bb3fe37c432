"""Models as frozen values, and their mathematics."""
