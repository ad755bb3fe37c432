"""Inner loops of EM: expectations over groups of unobserved variables, steps, merged states."""
