"""The experiments by name, each loaded when it is asked for."""

from __future__ import annotations

import importlib

from experiments.experiment import Experiment
from leverrier.errors import OptionError

MODULES = {
    "em": "experiments.em",
    "elidan2000": "experiments.elidan2000",
    "elidan2001": "experiments.elidan2001",
    "wood2006": "experiments.wood2006_shown",
    "boyen1999": "experiments.boyen1999",
}
NAMES = tuple(MODULES)


def experiment(name: str) -> Experiment:
    """One of them."""
    if name not in MODULES:
        raise OptionError(f"no experiment {name!r}; there are {', '.join(NAMES)}")
    return importlib.import_module(MODULES[name]).EXPERIMENT
