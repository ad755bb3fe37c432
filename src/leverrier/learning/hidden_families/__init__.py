"""Families of any kind with hidden members: expected counts, EM and structural EM over them."""
