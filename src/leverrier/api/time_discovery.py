"""`TimeDiscovery`: what `discover` gives back for sequences."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.api.added_columns import add_states
from leverrier.api.time_saved import dump_time, load_time
from leverrier.data.card import card
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table, Variable, code_type
from leverrier.discovery.evidence.null_test import Evidence
from leverrier.discovery.time.time_diagnostics import TimeSummary
from leverrier.discovery.time.time_findings import HiddenChain, TimeFindings
from leverrier.discovery.time.time_words import slices_text
from leverrier.discovery.time.time_words import summary as summary_words
from leverrier.errors import OptionError
from leverrier.formats.network_files import write_whole
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.report.pages.time_page import time_page

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
    columns: tuple[Variable, ...]
    """The columns as they were read: new data are read like them."""
    summary: TimeSummary
    settings: Mapping[str, Any] = field(default_factory=dict)
    sequences: Sequences | None = field(default=None, repr=False)
    """What it was learnt from; None where it was read from a file."""

    @property
    def verdict(self) -> str:
        """hidden, memories, lags or nothing."""
        return self.findings.verdict

    @property
    def finished(self) -> bool:
        """Whether everything was done: False if a budget or an interrupt cut it short."""
        return self.findings.finished

    @property
    def hidden(self) -> tuple[HiddenInTime, ...]:
        found = self.findings
        nats = found.gain * math.log(2)
        error = nats / found.z if found.z else 0.0
        interval = (nats - 1.96 * error, nats + 1.96 * error) if found.tested else None
        whole, held_out = nats * found.n_slices, nats if found.tested else None
        evidence = Evidence(
            whole,
            accepted=found.accepted,
            tested=found.tested,
            held_out=held_out,
            held_out_interval=interval,
            kind="time",
        )
        return tuple(HiddenInTime(c.name, c.states, c.drives, whole, evidence, c) for c in found.hidden)

    @property
    def headline(self) -> str:
        return summary_words(self.findings)

    @property
    def model(self) -> Any:
        """What the verdict rests on: bits_per_slice, surprise and posterior of new data are its methods."""
        return self.findings.model

    @property
    def network(self) -> DynamicNetwork | None:
        """As a network in time; None where the model keeps memories, which no network of lags has."""
        return self.findings.network

    @property
    def baseline(self) -> Any:
        """The best model without hidden variables."""
        return self.findings.observed

    def bits_per_slice(self, data: Any = None) -> float:
        """What a slice costs the model (less is better): of the data learnt from, or of others."""
        model, sequences = self.findings.model, self._sequences(data)
        if isinstance(model, DynamicNetwork):
            return model.bits_per_slice(sequences, self.findings.inference)
        return model.bits_per_slice(sequences)

    def posterior(self, data: Any = None, name: str | None = None) -> Floats:
        """(rows, states): P(state | the whole sequence), in the order of the rows; the first variable by default."""
        if not self.findings.hidden:
            raise OptionError("nothing hidden was found, so there are no states to give rows")
        known = [one.name for one in self.findings.hidden]
        if name is not None and name not in known:
            raise OptionError(f"no hidden variable {name!r}: found were {', '.join(known)}")
        return self._posteriors(data)[name or known[0]]

    def _posteriors(self, data: Any) -> dict[str, Floats]:
        sequences = self._sequences(data)
        found = self.findings.posterior(None if sequences is self.sequences else sequences)
        return {name: sequences.by_row(each) for name, each in found.items()}

    def states_of(self, data: Any = None) -> dict[str, list[Any]]:
        """Columns for each hidden variable: `NAME`, its most probable state, and `NAME_probability`, by row."""
        columns: dict[str, list[Any]] = {}
        shares = self._posteriors(data) if self.findings.hidden else {}
        for one in self.findings.hidden:
            best = shares[one.name].argmax(axis=1).tolist()
            columns[one.name] = [one.labels[k] for k in best] if one.labels else best
            columns[f"{one.name}_probability"] = shares[one.name].max(axis=1).tolist()
        return columns

    def add_to(self, data: Any) -> Any:
        """The data with a column for each hidden variable's most probable state and one for its probability."""
        return add_states(data, self.states_of(data))

    def report(self, path: str | os.PathLike[str], title: str | None = None, *, live: bool = True) -> None:
        """Write the report: one HTML file that needs no network. Its figures answer when they are pointed at;
        `live=False` leaves out the script for that, 0.9 MB, and they are pictures."""
        heading = title or "What nobody measured, over time"
        page = time_page(self.findings, self.summary, self.settings, heading, live)
        write_whole(os.fspath(path), page.encode())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON; `leverrier.load` reads it back. No row of the data is in it."""
        text = dump_time(self.findings, self.columns, self.summary, self.settings)
        write_whole(os.fspath(path), text.encode())

    def _sequences(self, data: Any) -> Sequences:
        if data is not None:
            read = isinstance(data, Sequences)
            by, time = (None if read else self.settings.get(name) for name in ("by", "time"))
            return read_sequences(data, by, time, like=_empty(self.columns), unseen="hole")
        if self.sequences is None:
            raise OptionError("the rows are not in the saved file: give the data")
        return self.sequences

    def __str__(self) -> str:
        return self.findings.words

    def __repr__(self) -> str:
        return f"TimeDiscovery({self.findings!r})"

    def _repr_html_(self) -> str:
        kept = self.summary
        facts = {"sequences": f"{kept.sequences:,}", "slices": f"{self.findings.n_slices:,}", "columns": kept.columns}
        rows = [
            (one.name, one.states, ", ".join(one.drives[:8]), ", ".join(map(slices_text, one.dwell)))
            for one in self.findings.hidden
        ]
        words = (f'{self.verdict}; found.report("report.html") writes the whole report',)
        return card(self.headline, facts, ("hidden", "states", "drives", "lasts (slices)"), rows, words)


def _empty(columns: tuple[Variable, ...]) -> Table:
    """A table of these columns without rows: to read others like it."""
    kind = code_type(max((column.cardinality for column in columns), default=1))
    return Table(columns, np.zeros((len(columns), 0), dtype=kind))


def load_content(content: Mapping[str, Any], path: str | None) -> TimeDiscovery:
    """What `TimeDiscovery.save` wrote."""
    findings, columns, summary, settings = load_time(content, path)
    return TimeDiscovery(findings, columns, summary, settings)
