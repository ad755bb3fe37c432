"""Networks and hidden chains in time, their parameters."""
