"""The one palette. Each colour stands out at least 3 to 1 from light and dark pages; words are always in ink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

INK = "#333333"
"""Text and lines. In a page it becomes the page's own colour, so that dark pages have light text."""
OBSERVED, HIDDEN, QUIET = "#3b7dd8", "#d9601f", "#7d8894"
NODE, HIDDEN_NODE = "#eef3fa", "#fdeadf"
PAPER, SHADE = "#ffffff", "#e8e8e8"
"""Words and edges on a dark ground, and a ground behind lines."""
STATES = ("#3b7dd8", "#d9601f", "#2a9d63", "#b55fd0", "#b0861a", "#1896a8", "#b56576", "#7f8ba0", "#a0703f", "#577fa0")
"""Of states, chains and kinds, in this order."""
SYMBOLS = ("●", "▲", "■", "◆", "▼", "✚", "★", "◐", "◧", "◇")
"""Beside the colours, in the same order: states are told by more than colour."""
SHAPES = (
    "circle",
    "triangle-up",
    "square",
    "diamond",
    "triangle-down",
    "cross",
    "stroke",
    "arrow",
    "wedge",
    "triangle",
)
"""The same as Vega draws them."""


def symbol(place: int) -> str:
    return SYMBOLS[place % len(SYMBOLS)]


def state_colours(labels: Sequence[str]) -> Any:
    """A scale that gives every state its own colour."""
    import altair as alt

    return alt.Scale(domain=list(labels), range=list(STATES))


def state_shapes(labels: Sequence[str]) -> Any:
    """The same of shapes."""
    import altair as alt

    return alt.Scale(domain=list(labels), range=list(SHAPES))
