"""pyreadstat in a process of its own: what its C code does to a damaged file stays there."""
