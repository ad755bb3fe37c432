"""What each slice depends on: lags, memories, trees."""
