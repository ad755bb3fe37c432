"""Results as words, charts and pages. It reads results only."""
