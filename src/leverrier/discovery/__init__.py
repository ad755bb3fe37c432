"""Where a hidden variable sits, how many states it has, and what speaks for it."""
