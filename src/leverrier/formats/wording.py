"""Labels and names on their way into a text format: what cannot be read back is refused, not written."""

from __future__ import annotations

import re

from leverrier.errors import FormatError
from leverrier.formats.draft import shown
from leverrier.models.network import Network

_NEVER = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Control characters, halves of characters, and what XML has no place for."""
BLANK = " \t\r\n"
"""Blanks as XML sees them: other spaces may be part of a label."""


def labels_as_text(network: Network, format_name: str) -> dict[str, list[str]]:
    """Every state as text, for a format that knows nothing else."""
    if not network.variables:
        raise FormatError(f"a network without variables cannot be written as {format_name}")
    texts: dict[str, list[str]] = {}
    for name in network.variables:
        labels = [str(label) for label in network.states[name]]
        if len(set(labels)) != len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise FormatError(
                f"two states of {shown(name)} are both written {shown(twice)} in {format_name}, "
                "which holds only text: write .json, or relabel them (network.relabelled)"
            )
        texts[name] = labels
    return texts


def written_out(network: Network, name: str) -> str:
    """The note beside a table that stands for something shorter."""
    return f"written out from a {network.families[name].kind}; JSON keeps it as it is"


def text_of(text: str, format_name: str, forbidden: str = "", *, trimmed: bool = False) -> str:
    """The text itself, if the format can hold it; `trimmed` if its readers cut blanks at the ends."""
    held = _NEVER.search(text) or next((c for c in text if c in forbidden), None)
    character = held if isinstance(held, str) or held is None else held[0]
    if trimmed and text != text.strip(BLANK):
        character = text[0] if text[0] in BLANK else text[-1]
    if character is not None:
        raise FormatError(
            f"the name or label {shown(text)} cannot be written as {format_name}, which has no place there for "
            f"{shown(character)}: rename it, or write .json"
        )
    return text
