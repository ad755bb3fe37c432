"""`TimeDiscovery`: what `discover` gives back for sequences."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.api.rows import add_states
from leverrier.data.sequences import read_sequences
from leverrier.data.slices import Sequences
from leverrier.discovery.evidence import Evidence
from leverrier.discovery.time_findings import HiddenChain, TimeFindings
from leverrier.errors import OptionError
from leverrier.formats.dynamic import write_dynamic
from leverrier.formats.files import write_whole
from leverrier.model.dynamic import DynamicNetwork
from leverrier.report.time_page import time_page

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HiddenInTime:
    """A hidden variable of sequences, with the same face as one of a table."""

    name: str
    states: int
    children: tuple[str, ...]
    gain: float
    """Over the best model without it, in nats, over all slices."""
    evidence: Evidence
    chain: HiddenChain
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TimeDiscovery:
    """A verdict in words (print it), what is remembered, the hidden variables, and every row's states."""

    findings: TimeFindings
    sequences: Sequences = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """hidden, memories, lags or nothing."""
        return self.findings.verdict

    @property
    def hidden(self) -> tuple[HiddenInTime, ...]:
        found = self.findings
        nats = found.gain * math.log(2)
        error = nats / found.z if found.z else 0.0
        evidence = Evidence(nats * found.n_slices, accepted=True, tested=True, held_out=nats,
                            held_out_interval=(nats - 1.96 * error, nats + 1.96 * error), kind="time")  # fmt: skip
        return tuple(HiddenInTime(c.name, c.states, c.drives, nats * found.n_slices, evidence, c) for c in found.hidden)

    @property
    def network(self) -> DynamicNetwork | None:
        """As a network in time; None where the model keeps memories, which no network of lags has."""
        return self.findings.network

    @property
    def baseline(self) -> Any:
        """The best model without hidden variables."""
        return self.findings.observed

    def posterior(self, data: Any = None, name: str | None = None) -> Floats:
        """(rows, states): P(state | the whole sequence), in the order of the rows; the first variable by default."""
        if not self.findings.hidden:
            raise OptionError("nothing hidden was found, so there are no states to give rows")
        chosen = name or self.findings.hidden[0].name
        sequences = self.sequences if data is None else self._read(data)
        found = self.findings.posterior(None if data is None else sequences)
        if chosen not in found:
            raise OptionError(f"no hidden variable {chosen!r}: found were {', '.join(found)}")
        return sequences.by_row(found[chosen])

    def add_to(self, data: Any) -> Any:
        """The data with a column for each hidden variable's most probable state and one for its probability."""
        columns: dict[str, list[Any]] = {}
        for one in self.findings.hidden:
            shares = self.posterior(data, one.name)
            columns[one.name] = shares.argmax(axis=1).tolist()
            columns[f"{one.name}_probability"] = shares.max(axis=1).tolist()
        return add_states(data, columns)

    def report(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Write the report: one HTML file that needs no network."""
        page = time_page(self.findings, self.sequences, title or "What nobody measured, over time", self._command())
        write_whole(os.fspath(path), page.encode())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as a network in time (JSON; `read_dynamic` reads it back)."""
        if self.network is None:
            raise OptionError("this model keeps memories of whole sequences, which the file format does not hold yet")
        write_dynamic(self.network, path)

    def _read(self, data: Any) -> Sequences:
        by, time = self.settings.get("by"), self.settings.get("time")
        return read_sequences(data, by=by, time=time, like=self.sequences, unseen="hole")

    def _command(self) -> str:
        words = [f"--{name} {value}" for name, value in self.settings.items() if value is not None]
        return "leverrier discover DATA " + " ".join(words)

    def __str__(self) -> str:
        return self.findings.words

    def __repr__(self) -> str:
        return f"TimeDiscovery({self.findings!r})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre style='white-space: pre-wrap'>{escape(str(self))}</pre>"
