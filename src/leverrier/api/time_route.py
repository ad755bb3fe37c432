"""`discover` for sequences: what may be asked of it there, and how it is run."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import leverrier
from leverrier.api.discovery import Discovery
from leverrier.api.rows_read import kept_reading
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.asked import Asked
from leverrier.discovery.diagnostics import versions
from leverrier.discovery.network_codecs import identity
from leverrier.discovery.regimes.time_door import hidden_in_time
from leverrier.discovery.result import Shape
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.memory_route import memories_in_time
from leverrier.discovery.time.time_codecs import grouping
from leverrier.discovery.time.time_diagnostics import describe
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_result import result_in_time
from leverrier.errors import OptionError, TableError
from leverrier.hints import option
from leverrier.run.run import Run
from leverrier.run.stop import answered


def discover_in_time(
    data: Any,
    reading: Mapping[str, Any],
    method: str,
    options: Mapping[str, Any],
    whole: Run,
    checkpoint: str | os.PathLike[str] | None,
    resume: bool,
) -> Discovery:
    """Rivals without anything hidden, then levels and classes of persons and states that move, tested against chance;
    of categories also trees, memories and chains on top of them; or the source's loop.

    `reading` has by, time, ignore and types; `options` what `discover` was asked, None where nothing was said.
    """
    begun = clock.monotonic()
    how = _accepted(method, dict(options))
    sequences = read_sequences(data, **({} if isinstance(data, Sequences) else reading))
    if not sequences.variables:
        raise TableError("the table has no column that can be used: see `leverrier check` for the reasons")
    find = memories_in_time if method == "boyen1999" else hidden_in_time
    belongs = (*identity(sequences.table), *grouping(sequences), find.__name__, sorted(how.items()))
    with whole.kept_in(checkpoint, resume, "discover", *belongs) as run:

        def found_by(run: Run) -> tuple[TimeFindings, AlongTime]:
            found = find(sequences, run=run, **how)
            return found, describe(found, sequences, how["seed"])

        found, along = answered(run.stop, lambda: found_by(run), lambda: found_by(run.hurried()))
    keys = sequences.by[0] if len(sequences.by) == 1 else tuple(sequences.by) or None
    settings = Asked(
        by=keys,
        time=sequences.time,
        ignore=tuple(_names(reading["ignore"])),
        method=method,
        seed=how["seed"],
        draws=how.get("draws"),
        resamples=how.get("resamples"),
        level=how.get("level"),
        version=leverrier.__version__,
        versions=versions(),
        finished=found.finished,
        **kept_reading(reading["missing"], reading["join"], reading["decimal"]),
    )
    table = sequences.table
    shape = Shape(found.n_slices, len(table.variables), table.n_missing, found.notes, table.columns, len(sequences))
    shape = replace(shape, quality=table.noticed)
    return Discovery(result_in_time(found, along, shape, settings, clock.monotonic() - begun), sequences)


def refuse_for_tables(given: Mapping[str, bool]) -> None:
    """Options that mean nothing for sequences are not passed over in silence."""
    name = next((name for name, is_given in given.items() if is_given), None)
    if name is not None:
        raise OptionError(
            f"{option(name)} is for tables: sequences are read whole and judged by held-out blocks; "
            f"{option('budget')} bounds their run"
        )


def _accepted(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that this method takes; what it cannot do is refused, not passed over."""
    if method not in ("auto", "sequences", "boyen1999"):
        raise OptionError(f'method={method!r} is for tables; for sequences: "auto", "sequences" or "boyen1999"')
    if options.pop("weights") is not None:
        raise OptionError(f"{option('weights')} is for tables: slices of a sequence count once each")
    loop = method == "boyen1999"
    for name in ("max_hidden",) if loop else ("score", "max_parents"):
        if options.pop(name) is not None:
            what = "this method has its own number of memories" if loop else 'it is for tables and method="boyen1999"'
            raise OptionError(f"{name}= cannot be used here: {what}")
    if loop:
        for name in ("inputs", "draws", "resamples", "level"):
            options.pop(name)
    return {name: value for name, value in options.items() if value is not None}


def _names(ignore: str | Collection[str]) -> list[str]:
    return [ignore] if isinstance(ignore, str) else list(ignore)
