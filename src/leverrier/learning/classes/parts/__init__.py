"""What a latent class model is put together from: densities, indicators, and the logit of the classes."""
