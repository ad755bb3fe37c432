"""Is it real? What a sceptic asks, answered by running the procedure again."""
