"""What the samplers do to a state, a move at a time."""
