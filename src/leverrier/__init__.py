"""Leverrier finds what nobody measured."""
