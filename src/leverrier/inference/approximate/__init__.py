"""Where exact inference is too large: mean field and loopy messages."""
