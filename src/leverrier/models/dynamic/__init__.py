"""Networks in time."""
