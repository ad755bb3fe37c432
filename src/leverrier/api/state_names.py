"""Names that a user gives to hidden states: read from Python, from the command line, or from a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from leverrier.errors import OptionError


def renamed(variable: str, labels: Sequence[str], given: Mapping[Any, str] | Sequence[str]) -> tuple[str, ...]:
    """The states' new names in order: by their present ones, or all of them in order."""
    if isinstance(given, str):
        raise OptionError(f"names of {variable}: write {{state: name}} or a list of names, not one text")
    if not isinstance(given, Mapping):
        if len(given) != len(labels):
            raise OptionError(f"{variable} has {len(labels)} states, and {len(given)} names were given")
        given = dict(zip(labels, given, strict=True))
    wanted = {str(old): str(new).strip() for old, new in given.items()}
    unknown = [old for old in wanted if old not in labels]
    if unknown:
        raise OptionError(f"{variable} has no state {unknown[0]!r}: its states are {', '.join(labels)}")
    made = tuple(wanted.get(label, label) for label in labels)
    if "" in made or len(set(made)) != len(made):
        raise OptionError(f"names of {variable}: each state needs a name of its own; these are {', '.join(made)}")
    return made


def names_asked(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """H1:0=low rate, once for each state; or the path of a JSON file with {"H1": {"0": "low rate"}}."""
    found: dict[str, dict[str, str]] = {}
    for each in given:
        place, sign, name = each.partition("=")
        variable, colon, state = place.rpartition(":")
        if sign and colon:
            found.setdefault(variable, {})[state] = name
        elif os.path.isfile(each):
            for variable, names in _read(each).items():
                found.setdefault(variable, {}).update(names)
        else:
            raise OptionError(f"--names {each!r}: write VARIABLE:STATE=NAME, such as H1:0=low, or a JSON file of names")
    return found


def _read(path: str) -> dict[str, dict[str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError):
        content = None
    whole = isinstance(content, dict) and all(
        isinstance(names, dict) and all(isinstance(name, str) for name in names.values()) for names in content.values()
    )
    if not isinstance(content, dict) or not whole:
        raise OptionError(f'{path}: expected JSON such as {{"H1": {{"0": "low rate", "1": "high rate"}}}}')
    return content
