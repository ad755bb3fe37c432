"""The experiments by name, each loaded when it is asked for."""

from __future__ import annotations

import importlib

from leverrier.errors import OptionError
from leverrier.reproduce.experiment import Experiment

MODULES = {
    "em": "leverrier.reproduce.em",
    "elidan2000": "leverrier.reproduce.elidan2000",
    "elidan2001": "leverrier.reproduce.elidan2001",
    "wood2006": "leverrier.reproduce.wood2006_shown",
    "boyen1999": "leverrier.reproduce.boyen1999",
}
NAMES = tuple(MODULES)


def experiment(name: str) -> Experiment:
    """One of them."""
    if name not in MODULES:
        raise OptionError(f"no experiment {name!r}; there are {', '.join(NAMES)}")
    return importlib.import_module(MODULES[name]).EXPERIMENT
