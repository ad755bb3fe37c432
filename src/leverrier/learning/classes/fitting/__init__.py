"""Latent class models put together, climbed, and with the errors of what was found."""
