"""Models of slices: trees over lags and memories, hidden chains."""
