"""Tables to files: what is written can be read back as it was."""
