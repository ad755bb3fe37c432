"""The two kinds of discovery, by name: who asks which it is need not load what it takes."""

TABLE, TIME = "leverrier-discovery", "leverrier-time-discovery"
"""What a saved discovery calls itself."""
IN_TIME = ("sequences", "boyen1999")
"""Methods for rows that come one after another."""
