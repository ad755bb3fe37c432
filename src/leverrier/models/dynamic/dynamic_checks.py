"""Whether the slices of a dynamic network fit together; what does not is said in one line."""

from __future__ import annotations

from collections.abc import Mapping

from leverrier.data.table import Label
from leverrier.errors import NetworkError
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.graph import Graph


def check_slice(what: str, part: Mapping[str, CPD], states: Mapping[str, tuple[Label, ...]], place: int) -> None:
    if set(part) != set(states):
        odd = sorted(set(part) ^ set(states))
        raise NetworkError(f"{what}: {odd[0]!r} has no distribution, or no states")
    for name, cpd in part.items():
        for parent, lag in cpd.parents:
            if parent not in states:
                raise NetworkError(f"{what}: {name!r} has a parent {parent!r} that is no variable")
            if not 0 <= lag <= place and what != "the transition":
                raise NetworkError(f"{what}: {name!r} looks back {lag} slices, beyond the beginning")
            if lag < 0:
                raise NetworkError(f"{what}: {name!r} has a parent {-lag} slices ahead: lags are 0 or more")
            if lag > place:
                raise NetworkError(f"{name!r} looks back {lag} slices: {lag} stages are needed for the slices before")
        if len(set(cpd.parents)) < len(cpd.parents):
            raise NetworkError(f"{what}: {name!r} names a parent twice")
        expected = (*(len(states[parent]) for parent, _ in cpd.parents), len(states[name]))
        if isinstance(cpd, TableCPD) and cpd.values.shape != expected:
            raise NetworkError(f"{what}: the table of {name!r} has shape {cpd.values.shape}, expected {expected}")
    Graph.from_parents({name: [p for p, lag in cpd.parents if lag == 0] for name, cpd in part.items()})


def check_number(name: str, cpd: GaussianCPD, states: Mapping[str, tuple[Label, ...]]) -> None:
    if name in states:
        raise NetworkError(f"{name!r} has states and is a number too: it can be one of them")
    for parent in cpd.parents:
        if parent not in states:
            raise NetworkError(f"{name!r} has a parent {parent!r} that is no variable with states")
    expected = tuple(len(states[parent]) for parent in cpd.parents)
    if cpd.means.shape != expected:
        raise NetworkError(f"the means of {name!r} have shape {cpd.means.shape}, expected {expected}")
