"""Overlapping causes behind yes/no signs, by sampling [wood2006]."""
