"""What a node's distribution given its parents can be: tables and whatever says the same with fewer numbers."""
