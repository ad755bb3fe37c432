"""Leverrier finds what nobody measured: hidden variables in tables and sequences, with evidence.

    import leverrier as lv
    table = lv.read_table("survey.csv")
    result = lv.learn_structure(table)

Names are loaded when first used, so that `import leverrier` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from leverrier import datasets as datasets
    from leverrier import estimators as estimators
    from leverrier.api.discover import discover as discover
    from leverrier.api.discover import load as load
    from leverrier.api.discovery import Discovery as Discovery
    from leverrier.data.reading.read_table import describe_columns as describe_columns
    from leverrier.data.reading.read_table import read_table as read_table
    from leverrier.data.sequences.read_sequences import read_sequences as read_sequences
    from leverrier.data.sequences.sequences import Sequences as Sequences
    from leverrier.data.table import Table as Table
    from leverrier.data.writing.write_table import write_table as write_table
    from leverrier.discovery.places.find_hidden import find_hidden as find_hidden
    from leverrier.discovery.places.semi_clique import semi_cliques as semi_cliques
    from leverrier.discovery.states.cardinality import cardinality as cardinality
    from leverrier.discovery.time.find_in_time import find_in_time as find_in_time
    from leverrier.discovery.time.find_memories import find_memories as find_memories
    from leverrier.discovery.verdict import Verdict as Verdict
    from leverrier.errors import FallError as FallError
    from leverrier.errors import FormatError as FormatError
    from leverrier.errors import InputError as InputError
    from leverrier.errors import LeverrierError as LeverrierError
    from leverrier.errors import MissingExtraError as MissingExtraError
    from leverrier.errors import NetworkError as NetworkError
    from leverrier.errors import OptionError as OptionError
    from leverrier.errors import TableError as TableError
    from leverrier.errors import TooLargeError as TooLargeError
    from leverrier.formats.dynamic_files import read_dynamic as read_dynamic
    from leverrier.formats.dynamic_files import write_dynamic as write_dynamic
    from leverrier.formats.interop import from_networkx as from_networkx
    from leverrier.formats.interop import from_pgmpy as from_pgmpy
    from leverrier.formats.interop import from_pyagrum as from_pyagrum
    from leverrier.formats.interop import to_networkx as to_networkx
    from leverrier.formats.interop import to_pgmpy as to_pgmpy
    from leverrier.formats.interop import to_pyagrum as to_pyagrum
    from leverrier.formats.network_files import read_mixed_network as read_mixed_network
    from leverrier.formats.network_files import read_network as read_network
    from leverrier.formats.network_files import write_network as write_network
    from leverrier.learning.chains.factorial import factorial_hmm as factorial_hmm
    from leverrier.learning.chains.fit_dynamic import fit_dynamic as fit_dynamic
    from leverrier.learning.chains.hidden_markov import hidden_markov as hidden_markov
    from leverrier.learning.classes.latent_classes import latent_classes as latent_classes
    from leverrier.learning.classes.mixed_classes import mixed_classes as mixed_classes
    from leverrier.learning.em.cheeseman_stutz import cheeseman_stutz as cheeseman_stutz
    from leverrier.learning.em.fit import fit as fit
    from leverrier.learning.mixtures.fit_mixture import fit_mixture as fit_mixture
    from leverrier.learning.mixtures.mixture_prior import NormalInverseWishart as NormalInverseWishart
    from leverrier.learning.regimes.latent_transitions import latent_transitions as latent_transitions
    from leverrier.learning.slices.learn_dynamic import learn_dynamic as learn_dynamic
    from leverrier.learning.structure.learn_structure import learn_structure as learn_structure
    from leverrier.learning.structure.learn_structure import score as score
    from leverrier.learning.structure.score import AIC as AIC
    from leverrier.learning.structure.score import BIC as BIC
    from leverrier.learning.structure.score import BDe as BDe
    from leverrier.learning.structure.score import BDeu as BDeu
    from leverrier.learning.structure.score import LogLikelihood as LogLikelihood
    from leverrier.learning.structure.structural_em import structural_em as structural_em
    from leverrier.models.dynamic.dynamic_network import DynamicNetwork as DynamicNetwork
    from leverrier.models.graph import Graph as Graph
    from leverrier.models.mixed_network import MixedNetwork as MixedNetwork
    from leverrier.models.mixture import Mixture as Mixture
    from leverrier.models.network import Network as Network
    from leverrier.noisy_or.hidden_causes import hidden_causes as hidden_causes
    from leverrier.report.charts.pictures import save_picture as save_picture
    from leverrier.status import Status as Status

_WHERE = {
    "api.discover": ("discover", "load"),
    "api.discovery": ("Discovery",),
    "discovery.verdict": ("Verdict",),
    "data.reading.read_table": ("describe_columns", "read_table"),
    "data.writing.write_table": ("write_table",),
    "data.sequences.read_sequences": ("read_sequences",),
    "data.sequences.sequences": ("Sequences",),
    "data.table": ("Table",),
    "discovery.states.cardinality": ("cardinality",),
    "discovery.places.find_hidden": ("find_hidden",),
    "discovery.time.find_memories": ("find_memories",),
    "discovery.time.find_in_time": ("find_in_time",),
    "discovery.places.semi_clique": ("semi_cliques",),
    "errors": (
        "FallError",
        "FormatError",
        "InputError",
        "LeverrierError",
        "MissingExtraError",
        "NetworkError",
        "OptionError",
        "TableError",
        "TooLargeError",
    ),
    "formats.dynamic_files": ("read_dynamic", "write_dynamic"),
    "formats.network_files": ("read_mixed_network", "read_network", "write_network"),
    "formats.interop": ("from_networkx", "from_pgmpy", "from_pyagrum", "to_networkx", "to_pgmpy", "to_pyagrum"),
    "learning.em.cheeseman_stutz": ("cheeseman_stutz",),
    "learning.slices.learn_dynamic": ("learn_dynamic",),
    "learning.chains.fit_dynamic": ("fit_dynamic",),
    "learning.chains.factorial": ("factorial_hmm",),
    "learning.em.fit": ("fit",),
    "learning.chains.hidden_markov": ("hidden_markov",),
    "learning.regimes.latent_transitions": ("latent_transitions",),
    "learning.classes.latent_classes": ("latent_classes",),
    "learning.classes.mixed_classes": ("mixed_classes",),
    "learning.mixtures.fit_mixture": ("fit_mixture",),
    "learning.mixtures.mixture_prior": ("NormalInverseWishart",),
    "learning.structure.structural_em": ("structural_em",),
    "learning.structure.score": ("AIC", "BIC", "BDe", "BDeu", "LogLikelihood"),
    "learning.structure.learn_structure": ("learn_structure", "score"),
    "models.dynamic.dynamic_network": ("DynamicNetwork",),
    "models.graph": ("Graph",),
    "models.mixed_network": ("MixedNetwork",),
    "models.mixture": ("Mixture",),
    "models.network": ("Network",),
    "report.charts.pictures": ("save_picture",),
    "noisy_or.hidden_causes": ("hidden_causes",),
    "status": ("Status",),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}
_SUBMODULES = ("datasets", "estimators")
_SHOWN = (
    "cardinality",
    "factorial_hmm",
    "find_hidden",
    "find_in_time",
    "find_memories",
    "fit",
    "fit_dynamic",
    "fit_mixture",
    "hidden_causes",
    "hidden_markov",
    "latent_classes",
    "learn_dynamic",
    "learn_structure",
    "mixed_classes",
    "structural_em",
)
"""What may last, and says here how far it is: from this door alone, so that nothing is shown of what they call."""

__all__ = ["__version__", *sorted(_MODULE_OF), *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"leverrier.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'leverrier' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"leverrier.{_MODULE_OF[name]}"), name)
    if name in _SHOWN:
        from leverrier.api.progress_line import with_progress

        value = with_progress(value, "leverrier")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
