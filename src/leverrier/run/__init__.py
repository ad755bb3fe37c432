"""Running: what a long run may cost, how it is stopped, kept and shared out."""
