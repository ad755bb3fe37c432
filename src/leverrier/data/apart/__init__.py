"""Files that compiled libraries read, in a process of their own: what kills it, or would, is one line here."""
