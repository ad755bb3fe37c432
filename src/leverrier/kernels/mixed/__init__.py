"""Inner loops of mixed networks: regressions on a Gram matrix, small trees, private noise."""
