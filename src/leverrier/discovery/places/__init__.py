"""Where hidden variables sit [elidan2000]."""
