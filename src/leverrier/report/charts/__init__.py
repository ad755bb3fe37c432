"""Charts, one function an idea."""
