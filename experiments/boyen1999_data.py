"""The sequences that stand for those of [boyen1999 section 6], cut into a training and a test part."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.tables import TICKERS, tickers
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table
from leverrier.formats.dynamic_files import read_dynamic
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

APNEA = ("apnea/santafe_b_7bins.csv.gz",)
CHORALES = ("chorales/chorales.csv",)
BAT = ("bat_dbn/bat_2tbn.bif", "bat_dbn/bat_trajectory_20000.csv.gz")
STOCKS = (TICKERS, "stocks/trends_exact_1992_1999.csv.gz")
FILES = {"chorales": CHORALES, "apnea": APNEA, "stocks": STOCKS, "bat": BAT}
NAMES = tuple(FILES)
LONGEST = {"chorales": 8, "apnea": 10, "stocks": 2, "bat": 6}
"""Lags tried at most, where they are given."""
STAND_INS = (
    "Bach: the source's 100 chorales (71 for training at random). Apnea: the Santa Fe recording B in 7 equally "
    "frequent bins, the first 20,000 slices for training, the last 14,000 for testing. Stocks: 20 companies of the "
    "source's industries, 1,195 days for training and 590 for testing; a company not yet listed is missing, not a "
    "state. BAT: a trajectory of our own, 5,000 slices for training, the next 10,000 for testing. So the source's own "
    "bits are those of other data: what counts is the order of the rows, and how far apart they are."
)
DAYS = 1195
"""[boyen1999 section 6]: training transitions of the stocks."""
TRAINING_SONGS = 71


def pair(name: str, data: Path, quick: bool = False, split: int = 0) -> tuple[Sequences, Sequences]:
    """Training and test sequences; `split` numbers the random splits of the chorales."""
    if name == "apnea":
        found = read_sequences(data / APNEA[0], ignore=["sequence", "time"])
        return _cut(found, *((4_000, 3_000) if quick else (20_000, 14_000)))
    if name == "stocks":
        chosen = tickers(data, "mixed20")
        found = read_sequences(
            data / STOCKS[1],
            time="date",
            ignore=["sequence", "time"],
            gaps="ignore",
            missing=["na"],
            types={key: ["down", "same", "up"] for key in chosen},
        )
        found = found.split("1992-02-01")[1].split("1999-03-01")[0].select(chosen)
        return _cut(found, DAYS, found.n_slices - DAYS)
    if name == "bat":
        sensors = [name for name in _header(data / BAT[1]) if name.endswith("Sens")]
        rest = [name for name in _header(data / BAT[1]) if name not in sensors]
        ordered = _values(data / BAT[1], sensors)
        found = read_sequences(data / BAT[1], ignore=rest, types=ordered)
        return _cut(found, *((2_000, 3_000) if quick else (5_000, 10_000)))
    ordered = _values(data / CHORALES[0], ["pitch"])
    found = read_sequences(data / CHORALES[0], by="sequence", time="time", ignore=["start_time"], types=ordered)
    order = np.random.default_rng(split).permutation(len(found))
    return found.take(np.sort(order[:TRAINING_SONGS])), found.take(np.sort(order[TRAINING_SONGS:]))


def _cut(found: Sequences, train: int, test: int) -> tuple[Sequences, Sequences]:
    return found.stretches([(0, train)]), found.stretches([(train, train + test)])


def _rows(path: Path) -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _header(path: Path) -> list[str]:
    with _rows(path) as file:
        return next(csv.reader(file))


def _values(path: Path, columns: Sequence[str]) -> dict[str, list[int]]:
    """The whole numbers that columns hold, in order: each is a state of its own."""
    seen: dict[str, set[int]] = {name: set() for name in columns}
    with _rows(path) as file:
        for row in csv.DictReader(file):
            for name in columns:
                seen[name].add(int(row[name]))
    return {name: sorted(values) for name, values in seen.items()}


def bat_network(data: Path) -> DynamicNetwork:
    """The network that BAT was drawn from, all but the ten sensors hidden."""
    network: DynamicNetwork = read_dynamic(data / BAT[0])
    return network.hiding(*(name for name in network.variables if not name.endswith("Sens")))


def bat_slices(data: Path) -> Sequences:
    """The ten sensors over all 20,000 slices, in the network's own states."""
    network = bat_network(data)
    sensors = network.observed
    numbers = {name: range(network.cardinality(name)) for name in sensors}
    found = read_sequences(data / BAT[1], by="sequence", time="time", states=numbers)
    codes = found.table.codes.astype(int)
    return found.with_table(Table.from_codes({name: network.states[name] for name in sensors}, codes))
