"""`Discovery`: what `discover` gives back, for tables and for sequences."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from leverrier.api.added_columns import add_states, frame_like
from leverrier.api.rows_read import as_before, rows_read, warned
from leverrier.api.saved import dump
from leverrier.api.state_names import renamed
from leverrier.arrays import Floats
from leverrier.data.labels import Unseen
from leverrier.data.paper_table import Papers, PaperTable
from leverrier.data.reading.file_options import ReadingOptions
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table, code_type
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.hidden_model import HiddenModel
from leverrier.discovery.result import Result
from leverrier.discovery.time.time_model import Model
from leverrier.discovery.verdict import Verdict
from leverrier.errors import OptionError
from leverrier.formats.network_files import write_whole
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.network import Network
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.slices.slice_model import SliceModel
from leverrier.report.words.summary_words import profiles_of, summary_of
from leverrier.report.words.verdict_words import headline, verdict

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, eq=False)
class Discovery(Papers):
    """A verdict in words (print it), the hidden variables, and every row's states."""

    result: Result
    sequences: Sequences | None = field(default=None, repr=False)
    """What it was learnt from, of sequences; None where it was read from a file."""

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:
        """The hidden variables that were found, in that order; `believed` are those that tests speak for."""
        return self.result.hidden

    @property
    def believed(self) -> tuple[HiddenVariable, ...]:
        """Those that are at work, by the tests."""
        return self.result.believed

    @property
    def untested(self) -> tuple[HiddenVariable, ...]:
        """Those of which no test says yet whether they are real."""
        return self.result.untested

    @property
    def compressors(self) -> tuple[HiddenVariable, ...]:
        """Those that gain score, but no more than tables with nothing hidden show."""
        return self.result.compressors

    @property
    def verdict(self) -> Verdict:
        """Its `str` is found, nothing, undecided or not tested; its `reason` says why."""
        return self.result.verdict

    @property
    def kind(self) -> str:
        """What kind of model the verdict rests on: network, classes, numbers, causes or sequences."""
        return self.result.kind

    @property
    def finished(self) -> bool:
        """Whether everything was done: False if a budget or an interrupt cut it short."""
        return self.result.settings.finished

    @property
    def headline(self) -> str:
        return headline(self.result)

    @property
    def network(self) -> Network | MixedNetwork | DynamicNetwork | None:
        """With the hidden variables; None where sequences need memories, which no network of lags has. Of a table with
        numbers the network of its columns: what hides behind them is in `model`."""
        return self.result.network

    @property
    def baseline(self) -> Network | MixedNetwork | DynamicNetwork | SliceModel | RegimeModel | None:
        """The best model without them: a network, or of sequences also one of slices."""
        return self.result.baseline if self.result.time is None else self.result.time.observed

    @property
    def model(self) -> HiddenModel | Model:
        """What the verdict rests on; of sequences surprise and posterior of new data are its methods."""
        return self.result.model if self.result.time is None else self.result.time.model

    @property
    def gain(self) -> float:
        """Of all hidden variables together, in nats."""
        return self.result.gain

    def bits_per_slice(self, data: Any = None) -> float:
        """Of sequences, what a slice costs the model (less is better): of the data learnt from, or of others."""
        if self.result.time is None:
            raise OptionError("bits a slice are for sequences: this discovery is of a table")
        return self.result.time.face.bits_per_slice(self._sequences(data, "hole"))

    def posterior(
        self, data: Any = None, name: str | None = None, *, unseen: Unseen = "error", **reading: Unpack[ReadingOptions]
    ) -> Any:
        """(rows, states): P(state of a hidden variable | row, or its whole sequence), in the order of the rows; of the
        first variable by default. A dataframe comes back as one, a column a state, its index kept; anything else as an
        array. Sequences that it was learnt from need not be given again.

        unseen    what a label is that no row had when this was learnt: an "error" or a "hole"; of holes a warning says
                  how many
        reading   how the data are read, as in `read_table`
        """
        chosen = self._chosen(name)
        shares = self._posteriors(data, chosen, unseen, reading)[chosen]
        each = next(each for each in self.hidden if each.name == chosen)
        return frame_like(data, {str(label): shares[:, k] for k, label in enumerate(self._labels(each))}, shares)

    def predict(
        self, data: Any = None, name: str | None = None, *, unseen: Unseen = "error", **reading: Unpack[ReadingOptions]
    ) -> Any:
        """Each row's most probable state of a hidden variable, by its name; of a continuum the row's place on it. A
        dataframe comes back as one with a column for each hidden variable, anything else as an array of the first one
        or of the one that is named."""
        columns = self.states_of(data, name, unseen=unseen, **reading)
        wanted = [each.name for each in self.hidden if name in (None, each.name)]
        return frame_like(data, {each: columns[each] for each in wanted}, np.array(columns[self._chosen(name)]))

    def _posteriors(
        self, data: Any, name: str | None = None, unseen: Unseen = "error", reading: ReadingOptions | None = None
    ) -> dict[str, Floats]:
        """By hidden variable; at least that of the one that is named."""
        if self.result.time is not None:
            sequences = self._sequences(data, unseen, reading)
            found = self.result.time.posterior(None if sequences is self.sequences else sequences)
            return {each: sequences.by_row(shares) for each, shares in found.items()}
        return self.result.model.posterior(rows_read(self.result, data, unseen, reading), name)

    def scores(self, data: Any, name: str | None = None) -> tuple[Floats, Floats]:
        """Each row's place on a hidden continuum (mean 0, deviation 1), and its standard error; of the first one by
        default."""
        continua = {} if self.result.time is not None else getattr(self.result.model, "behind", {})
        names = [each for each, model in continua.items() if model.continuum]
        if not names:
            raise OptionError("no hidden continuum was found; posterior(data) gives the states of a class")
        if name is not None and name not in names:
            raise OptionError(f"no hidden continuum {name!r}: found were {', '.join(names)}")
        return continua[name or names[0]].scores(data)

    def add_to(self, data: Any, *, unseen: Unseen = "error", **reading: Unpack[ReadingOptions]) -> Any:
        """The data with a column for each hidden variable's most probable state and one for its probability.

        A dataframe comes back as the same kind of dataframe, every row in its place; from a path, as polars or pandas.
        """
        return add_states(data, self.states_of(data, unseen=unseen, **reading), reading)

    def states_of(
        self, data: Any = None, name: str | None = None, *, unseen: Unseen = "error", **reading: Unpack[ReadingOptions]
    ) -> Any:
        """Columns for each hidden variable, or for the one that is named: `NAME`, its most probable state, and
        `NAME_probability`, by row; of a continuum `NAME`, the row's place on it, and `NAME_error`. Of a hidden
        variable's name alone, `states_of("H1")`, the names of its states."""
        known = {each.name: each for each in self.hidden}
        if isinstance(data, str) and data in known and name is None:
            return tuple(str(label) for label in self._labels(known[data]))
        columns: dict[str, list[Any]] = {}
        wanted = [each for each in self.hidden if each.name == self._chosen(name)] if name else self.hidden
        shares = self._posteriors(data, name, unseen, reading) if wanted else {}
        for each in wanted:
            if each.name not in shares:
                places, errors = self.scores(rows_read(self.result, data, unseen, reading), each.name)
                columns |= {each.name: places.tolist(), f"{each.name}_error": errors.tolist()}
                continue
            own, labels = shares[each.name], self._labels(each)
            columns[each.name] = [labels[k] for k in own.argmax(axis=1).tolist()]
            columns[f"{each.name}_probability"] = own.max(axis=1).tolist()
        return columns

    def profiles(self) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
        """By hidden variable, state and column: the share of each of the column's values among rows in that state; of
        columns of numbers their mean, in deviations from all rows."""
        return profiles_of(self.result)

    def summary(self) -> str:
        """The verdict in a few lines: the headline, a line a hidden variable, what was noticed in the data."""
        return summary_of(self.result)

    def report(
        self, path: str | os.PathLike[str], title: str | None = None, *, live: bool = True, rows: bool = False
    ) -> str:
        """Write the report, and give its path back: one HTML file that needs no network. Its figures answer when they
        are pointed at; `live=False` leaves out the script for that, 0.9 MB, and they are pictures. The page holds no
        row of the data; of sequences `rows=True` draws each one's columns above its states."""
        from leverrier.report.pages.discovery_page import discovery_page

        if rows and self.result.time is None:
            raise OptionError("rows=True draws sequences: this discovery is of a table")
        over_time = "" if self.result.time is None else ", over time"
        shown = self._sequences(None) if rows else None
        page = discovery_page(self.result, title or f"What nobody measured{over_time}", live, shown)
        write_whole(os.fspath(path), page.encode())
        return os.fspath(path)

    def rename(self, names: Mapping[str, Mapping[Any, str] | Sequence[str]]) -> Discovery:
        """Give states names of your own, by hidden variable: {"H1": {"0": "low rate", "1": "high rate"}}, or all of
        them in order. This discovery says them from now on, in words, pages, tables and saved files; it is returned."""
        result = self.result
        for variable, given in names.items():
            each = next(one for one in self.hidden if one.name == self._chosen(variable))
            if not each.states:
                raise OptionError(f"{variable} is a continuum: it has no states to name")
            result = result.with_names(variable, renamed(variable, list(map(str, self._labels(each))), given))
        object.__setattr__(self, "result", result)
        return self

    def paper_tables(self) -> dict[str, PaperTable]:
        """Tables for a paper by name: profiles, evidence, fit by number of states, the SMART-LCA checklist.
        `to_frame(name)`, `to_latex(name)` and `to_docx(path)` write them."""
        from leverrier.report.parts.paper_tables import paper_tables

        return paper_tables(self.result)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as JSON; `leverrier.load` reads it back. No row of the data is in it."""
        write_whole(os.fspath(path), dump(self.result).encode())

    def _chosen(self, name: str | None) -> str:
        names = [each.name for each in self.hidden]
        if not names:
            raise OptionError("nothing hidden was found, so there are no states to give rows")
        if name is not None and name not in names:
            raise OptionError(f"no hidden variable {name!r}: found were {', '.join(names)}")
        return name or names[0]

    def _labels(self, each: HiddenVariable) -> tuple[Any, ...]:
        if each.name in self.result.renamed:
            return self.result.renamed[each.name]
        if each.chain is not None:
            return each.chain.labels or tuple(range(each.states))
        return self.result.model.labels[each.name]

    def _sequences(self, data: Any, unseen: Unseen = "error", reading: ReadingOptions | None = None) -> Sequences:
        if data is None and self.sequences is None:
            raise OptionError("the rows are not in the saved file: give the data")
        if data is None:
            return self.sequences  # type: ignore[return-value]
        columns, settings = self.result.shape.variables, self.result.settings
        kind = code_type(max((column.cardinality for column in columns), default=1))
        empty = Table(columns, np.zeros((len(columns), 0), dtype=kind))
        by, time = (None, None) if isinstance(data, Sequences) else (settings.by, settings.time)
        how = {} if isinstance(data, Sequences) else as_before(settings, reading)
        by, time = how.pop("by", by), how.pop("time", time)
        found = read_sequences(data, by, time, like=empty, unseen=unseen, **how)
        return warned(found, found.table.noticed)

    def __str__(self) -> str:
        return verdict(self.result)

    def __repr__(self) -> str:
        return f"Discovery({self.verdict}: {self.headline})"

    def _repr_html_(self) -> str:
        from leverrier.report.parts.notebook_card import discovery_card

        return discovery_card(self.result)

    def plot_network(self) -> altair.TopLevelMixin:
        """The network with its hidden variables, as an Altair chart. `leverrier.save_picture` writes it as a file."""
        from leverrier.report.charts.network_chart import network_chart
        from leverrier.report.charts.network_drawing import picture

        if self.result.time is not None:
            drawn = self.result.time.network
            if drawn is None:
                raise OptionError("sequences with memories have no network of lags to draw: see the report")
            return drawn.plot_graph()
        return network_chart(picture(self.result))

    def plot_states(self, name: str | None = None) -> altair.TopLevelMixin:
        """What the states of a hidden variable look like, with 95 % intervals; of causes, which signs they reach."""
        from leverrier.report.charts.discovery_charts import links_chart, profile_chart, sign_chances
        from leverrier.report.parts.profiles import profiles

        chosen = self._chosen(name)
        causes = None if self.result.other is None else self.result.other.causes
        if causes is not None:
            chances = sign_chances(causes, len(self.hidden))
            frames = causes.links[:, : len(self.hidden)]
            return links_chart(causes.names, chances, frames, "P(sign | one cause)", size="notebook")
        found = profiles(self.result, next(each for each in self.hidden if each.name == chosen))
        if not found:
            raise OptionError(f"what the states of {chosen!r} mean was not worked out")
        return profile_chart(found[0])

    def plot_evidence(self, name: str | None = None) -> altair.TopLevelMixin:
        """The gain beside those of simulated tables; of sequences by part that was held out; where nothing was tested,
        what would have been found."""
        from leverrier.report.charts.discovery_charts import null_dots, power_chart
        from leverrier.report.charts.sequence_charts import folds_chart
        from leverrier.report.words.bet_words import gate_of

        if self.result.time is not None and any(fold.hidden is not None for fold in self.result.time.folds):
            return folds_chart(self.result.time.folds, size="notebook")
        known = [(each.name, each.evidence) for each in (*self.hidden, *self.compressors)]
        tested = [one for other, one in known if one is not None and one.draws and name in (None, other)]
        if tested:
            return null_dots(tested[0], gate_of(tested[0]), size="notebook")
        if name is None and self.result.power is not None:
            return power_chart(self.result.power, size="notebook")
        raise OptionError("no simulated tables were drawn for this: run discover with evidence=True")
