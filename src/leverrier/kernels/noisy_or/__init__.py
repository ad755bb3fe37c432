"""Inner loops of the samplers of overlapping causes."""
