"""What is asked of a fitted latent class model: coefficients, profiles, outcomes, residuals, groups."""
