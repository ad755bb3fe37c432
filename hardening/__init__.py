"""Attacks, kills, damage and clocks: that files, runs and answers hold up on this machine."""
