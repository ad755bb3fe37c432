"""Mixtures of Gaussians."""
