"""`Discovery`: what `discover` gives back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.api.added_columns import add_states
from leverrier.api.saved import dump
from leverrier.data.card import card
from leverrier.data.reading.read_table import read_table
from leverrier.discovery.examined import Examined
from leverrier.discovery.findings import HiddenVariable
from leverrier.errors import OptionError
from leverrier.formats.network_files import write_whole
from leverrier.models.network import Network
from leverrier.report.pages.discovery_page import discovery_page
from leverrier.report.words.verdict_words import headline, verdict

if TYPE_CHECKING:
    import altair

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Discovery:
    """A verdict in words (print it), the hidden variables, and every row's states."""

    examined: Examined

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:
        """The hidden variables that were believed, in the order they were found."""
        return self.examined.hidden

    @property
    def compressors(self) -> tuple[HiddenVariable, ...]:
        """Those that gain score, but no more than tables with nothing hidden show."""
        return self.examined.compressors

    @property
    def verdict(self) -> str:
        """found, compressor, none accepted, no candidates, search unstable, or not tested."""
        return self.examined.verdict

    @property
    def kind(self) -> str:
        """What kind of model the verdict rests on: network, classes or causes."""
        return self.examined.kind

    @property
    def finished(self) -> bool:
        """Whether everything was done: False if a budget or an interrupt cut it short."""
        return bool(self.examined.settings.get("finished", True))

    @property
    def headline(self) -> str:
        return headline(self.examined)

    @property
    def network(self) -> Network:
        """With the hidden variables."""
        return self.examined.network

    @property
    def baseline(self) -> Network:
        """The best network without them."""
        return self.examined.baseline

    @property
    def gain(self) -> float:
        """Of all hidden variables together, in nats."""
        return self.examined.gain

    def posterior(self, data: Any, name: str | None = None) -> Floats:
        """(rows, states): P(state of a hidden variable | row), in the order of the rows; the first one by default."""
        chosen = self._chosen(name)
        if self.examined.model is not None:
            return self._by_model(data, chosen)
        return self.network.posterior(self._rows(data), chosen)

    def add_to(self, data: Any) -> Any:
        """The data with a column for each hidden variable's most probable state and one for its probability.

        A dataframe comes back as the same kind of dataframe, every row in its place; from a path, as polars or pandas.
        """
        return add_states(data, self.states_of(data))

    def states_of(self, data: Any) -> dict[str, list[Any]]:
        """Columns for each hidden variable: `NAME`, its most probable state, and `NAME_probability`, by row."""
        columns: dict[str, list[Any]] = {}
        for each in self.hidden:
            labels, posterior = self._labels(each.name), self.posterior(data, each.name)
            columns[each.name] = [labels[k] for k in posterior.argmax(axis=1)]
            columns[f"{each.name}_probability"] = posterior.max(axis=1).tolist()
        return columns

    def report(self, path: str | os.PathLike[str], title: str | None = None, *, live: bool = True) -> None:
        """Write the report: one HTML file that needs no network. Its figures answer when they are pointed at;
        `live=False` leaves out the script for that, 0.9 MB, and they are pictures."""
        page = discovery_page(self.examined, title or "What nobody measured", live=live)
        write_whole(os.fspath(path), page.encode())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON; `leverrier.load` reads it back."""
        write_whole(os.fspath(path), dump(self.examined).encode())

    def _chosen(self, name: str | None) -> str:
        names = [each.name for each in self.hidden]
        if not names:
            raise OptionError("nothing hidden was found, so there are no states to give rows")
        if name is not None and name not in names:
            raise OptionError(f"no hidden variable {name!r}: found were {', '.join(names)}")
        return name or names[0]

    def _by_model(self, data: Any, name: str) -> Floats:
        """Classes over numbers answer with their posterior; causes with P(absent), P(present)."""
        if self.kind == "classes":
            return self.examined.model.posterior(data)
        number = [each.name for each in self.hidden].index(name)
        present = self.examined.model.posterior(self._signs(data))[:, number]
        return np.column_stack([1 - present, present])

    def _signs(self, data: Any) -> Floats:
        """1 where a sign is there, 0 where not, NaN where nothing was seen."""
        yes = self.examined.settings["yes"]
        rows = self._rows(data)
        signs = np.full((rows.n_rows, len(self.examined.model.names)), np.nan)
        for place, name in enumerate(self.examined.model.names):
            codes = rows.column(name)
            signs[:, place] = np.where(codes == rows.missing, np.nan, codes == rows.states[name].index(yes[name]))
        return signs

    def _labels(self, name: str) -> tuple[Any, ...]:
        if self.examined.model is None:
            return self.network.states[name]
        return tuple(range(next(each.states for each in self.hidden if each.name == name)))

    def _rows(self, data: Any) -> Any:
        """The rows in the network's states; a value never seen is a hole."""
        return read_table(data, like=self.examined.like(), unseen="hole")

    def __str__(self) -> str:
        return verdict(self.examined)

    def __repr__(self) -> str:
        return f"Discovery({self.verdict}: {self.headline})"

    def _repr_html_(self) -> str:
        shape = self.examined.shape
        facts = {"rows": f"{shape.rows:,}", "columns": shape.columns, "empty cells": f"{shape.holes:,}"}
        rows = [
            (each.name, each.states, f"{each.gain:,.1f}", ", ".join(each.children[:8]), ", ".join(each.parents[:8]))
            for each in self.hidden
        ]
        words = (f'{self.verdict}; found.report("report.html") writes the whole report',)
        return card(self.headline, facts, ("hidden", "states", "gain, nats", "drives", "driven by"), rows, words)

    def plot_network(self) -> altair.TopLevelMixin:
        """The network with its hidden variables, as an Altair chart. `leverrier.save_picture` writes it as a file."""
        from leverrier.report.charts.network_chart import network_chart
        from leverrier.report.charts.network_drawing import picture

        return network_chart(picture(self.examined))

    def plot_states(self, name: str | None = None) -> altair.TopLevelMixin:
        """What the states of a hidden variable look like, with 95 % intervals; of causes, which signs they reach."""
        from leverrier.report.charts.discovery_charts import links_chart, profile_chart
        from leverrier.report.parts.profiles import profiles

        chosen = self._chosen(name)
        if self.kind == "causes":
            return links_chart(self.examined.model, [each.name for each in self.hidden])
        found = profiles(self.examined, next(each for each in self.hidden if each.name == chosen))
        if not found:
            raise OptionError(f"what the states of {chosen!r} mean was not worked out")
        return profile_chart(found[0])

    def plot_evidence(self, name: str | None = None) -> altair.TopLevelMixin:
        """The gain beside those of simulated tables; where nothing was tested, what would have been found."""
        from leverrier.report.charts.discovery_charts import null_histogram, power_chart

        tested = [each for each in (*self.hidden, *self.compressors) if each.evidence and each.evidence.null_gains]
        if name is not None:
            tested = [each for each in tested if each.name == name]
        if tested:
            return null_histogram(tested[0].evidence)
        if name is None and self.examined.power is not None:
            return power_chart(self.examined.power)
        raise OptionError("no simulated tables were drawn for this: run discover with evidence=True")
