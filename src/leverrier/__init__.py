"""Leverrier finds what nobody measured: hidden variables in tables and sequences, with evidence.

    import leverrier as lv
    table = lv.read_table("survey.csv")
    result = lv.learn_structure(table)

Names are loaded when first used, so that `import leverrier` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from leverrier import datasets as datasets
    from leverrier import estimators as estimators
    from leverrier.api.discover import discover as discover
    from leverrier.api.discover import load as load
    from leverrier.api.discovery import Discovery as Discovery
    from leverrier.api.time_discovery import TimeDiscovery as TimeDiscovery
    from leverrier.data.reading import describe_columns as describe_columns
    from leverrier.data.reading import read_table as read_table
    from leverrier.data.sequences import read_sequences as read_sequences
    from leverrier.data.slices import Sequences as Sequences
    from leverrier.data.table import Table as Table
    from leverrier.data.writing import write_table as write_table
    from leverrier.discovery.cardinality import cardinality as cardinality
    from leverrier.discovery.find import find_hidden as find_hidden
    from leverrier.discovery.memory import find_memories as find_memories
    from leverrier.discovery.semi_clique import semi_cliques as semi_cliques
    from leverrier.discovery.time import find_in_time as find_in_time
    from leverrier.errors import FallError as FallError
    from leverrier.errors import FormatError as FormatError
    from leverrier.errors import InputError as InputError
    from leverrier.errors import LeverrierError as LeverrierError
    from leverrier.errors import MissingExtraError as MissingExtraError
    from leverrier.errors import NetworkError as NetworkError
    from leverrier.errors import OptionError as OptionError
    from leverrier.errors import TableError as TableError
    from leverrier.errors import TooLargeError as TooLargeError
    from leverrier.formats.dynamic import read_dynamic as read_dynamic
    from leverrier.formats.dynamic import write_dynamic as write_dynamic
    from leverrier.formats.files import read_network as read_network
    from leverrier.formats.files import write_network as write_network
    from leverrier.formats.interop import from_networkx as from_networkx
    from leverrier.formats.interop import from_pgmpy as from_pgmpy
    from leverrier.formats.interop import from_pyagrum as from_pyagrum
    from leverrier.formats.interop import to_networkx as to_networkx
    from leverrier.formats.interop import to_pgmpy as to_pgmpy
    from leverrier.formats.interop import to_pyagrum as to_pyagrum
    from leverrier.learning.cheeseman_stutz import cheeseman_stutz as cheeseman_stutz
    from leverrier.learning.dynamic import learn_dynamic as learn_dynamic
    from leverrier.learning.dynamic_fit import fit_dynamic as fit_dynamic
    from leverrier.learning.factorial import factorial_hmm as factorial_hmm
    from leverrier.learning.fit import fit as fit
    from leverrier.learning.hidden_markov import hidden_markov as hidden_markov
    from leverrier.learning.latent_classes import latent_classes as latent_classes
    from leverrier.learning.mixed_classes import mixed_classes as mixed_classes
    from leverrier.learning.mixture import fit_mixture as fit_mixture
    from leverrier.learning.mixture_prior import NormalInverseWishart as NormalInverseWishart
    from leverrier.learning.score import AIC as AIC
    from leverrier.learning.score import BIC as BIC
    from leverrier.learning.score import BDe as BDe
    from leverrier.learning.score import BDeu as BDeu
    from leverrier.learning.score import LogLikelihood as LogLikelihood
    from leverrier.learning.structural_em import structural_em as structural_em
    from leverrier.learning.structure import learn_structure as learn_structure
    from leverrier.learning.structure import score as score
    from leverrier.model.dynamic import DynamicNetwork as DynamicNetwork
    from leverrier.model.graph import Graph as Graph
    from leverrier.model.mixture import Mixture as Mixture
    from leverrier.model.network import Network as Network
    from leverrier.report.pictures import save_picture as save_picture
    from leverrier.sampling.chains import hidden_causes as hidden_causes
    from leverrier.status import Status as Status

_WHERE = {
    "api.discover": ("discover", "load"),
    "api.discovery": ("Discovery",),
    "api.time_discovery": ("TimeDiscovery",),
    "data.reading": ("describe_columns", "read_table"),
    "data.writing": ("write_table",),
    "data.sequences": ("read_sequences",),
    "data.slices": ("Sequences",),
    "data.table": ("Table",),
    "discovery.cardinality": ("cardinality",),
    "discovery.find": ("find_hidden",),
    "discovery.memory": ("find_memories",),
    "discovery.time": ("find_in_time",),
    "discovery.semi_clique": ("semi_cliques",),
    "errors": (
        "FallError", "FormatError", "InputError", "LeverrierError", "MissingExtraError", "NetworkError", "OptionError",
        "TableError", "TooLargeError",
    ),
    "formats.dynamic": ("read_dynamic", "write_dynamic"),
    "formats.files": ("read_network", "write_network"),
    "formats.interop": (
        "from_networkx", "from_pgmpy", "from_pyagrum", "to_networkx", "to_pgmpy", "to_pyagrum",
    ),
    "learning.cheeseman_stutz": ("cheeseman_stutz",),
    "learning.dynamic": ("learn_dynamic",),
    "learning.dynamic_fit": ("fit_dynamic",),
    "learning.factorial": ("factorial_hmm",),
    "learning.fit": ("fit",),
    "learning.hidden_markov": ("hidden_markov",),
    "learning.latent_classes": ("latent_classes",),
    "learning.mixed_classes": ("mixed_classes",),
    "learning.mixture": ("fit_mixture",),
    "learning.mixture_prior": ("NormalInverseWishart",),
    "learning.structural_em": ("structural_em",),
    "learning.score": ("AIC", "BIC", "BDe", "BDeu", "LogLikelihood"),
    "learning.structure": ("learn_structure", "score"),
    "model.dynamic": ("DynamicNetwork",),
    "model.graph": ("Graph",),
    "model.mixture": ("Mixture",),
    "model.network": ("Network",),
    "report.pictures": ("save_picture",),
    "sampling.chains": ("hidden_causes",),
    "status": ("Status",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}
_SUBMODULES = ("datasets", "estimators")

__all__ = ["__version__", *sorted(_MODULE_OF), *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"leverrier.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'leverrier' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"leverrier.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
