"""Parameters with hidden variables and holes."""
