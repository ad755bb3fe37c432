"""`discover`: looks at the data, decides what applies, runs it, and says what it did."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from numpy.typing import ArrayLike

import leverrier
from leverrier.api.discovery import Discovery
from leverrier.api.grouped_rows import grouped, read_as_groups
from leverrier.api.progress_line import with_progress
from leverrier.api.rows_read import kept_reading
from leverrier.api.saved import load_result
from leverrier.counts.rows import RowsInParts
from leverrier.data.file_parts import look_at
from leverrier.data.matrix import as_matrix
from leverrier.data.memory_limit import memory_limit
from leverrier.data.reading.file_options import asked_as
from leverrier.data.reading.read_table import read_table
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table
from leverrier.discovery.asked import Asked
from leverrier.discovery.causes_route import applies, begin_causes, with_causes
from leverrier.discovery.diagnostics import described
from leverrier.discovery.done import Binned
from leverrier.discovery.evidence.alike_rows import rows_by_themselves
from leverrier.discovery.evidence.evidence import LEVEL
from leverrier.discovery.evidence.sequential_test import draws_needed
from leverrier.discovery.evidence.whole_groups import Groups
from leverrier.discovery.examine import Tests, cut_short, examine
from leverrier.discovery.first_kernels import compile_first
from leverrier.discovery.many.many_route import at_once, examine_many, examine_many_of, few_numbers, stands
from leverrier.discovery.mixed_route import examine_classes
from leverrier.discovery.network_codecs import identity
from leverrier.discovery.numbers.number_rule import Ruling
from leverrier.discovery.numbers.numbers_route import examine_grades, examine_numbers, graded
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.subsample import examine_large, sample_size
from leverrier.discovery.traits.traits_route import examine_traits
from leverrier.discovery.verdict import Answer
from leverrier.errors import OptionError, TableError
from leverrier.formats.network_files import read_whole
from leverrier.hints import option
from leverrier.learning.classes.mixed_classes import gaussian_columns
from leverrier.learning.mixed.learn_mixed import has_numbers
from leverrier.learning.structure.score import BDe, Score
from leverrier.run.event import Progress
from leverrier.run.run import Run
from leverrier.run.stop import Stop, answered

IN_TIME = ("sequences", "boyen1999")
"""Methods for rows that come one after another."""
Method = Literal["auto", "network", "classes", "causes", "sequences", "boyen1999"]
DRAWS, RESAMPLES = 99, 6


@with_progress
def discover(
    data: Any,
    *,
    by: str | None = None,
    time: str | None = None,
    inputs: str | Collection[str] = (),
    method: Method = "auto",
    evidence: bool = True,
    level: float = LEVEL,
    draws: int = DRAWS,
    resamples: int = RESAMPLES,
    max_hidden: int | None = None,
    score: Score | None = None,
    weights: str | ArrayLike | None = None,
    groups: str | ArrayLike | None = None,
    ignore: str | Collection[str] = (),
    types: Mapping[str, str | Sequence[Any]] | None = None,
    missing: Collection[Any] = (),
    join: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    max_parents: int | None = None,
    budget: float | None = None,
    work: int | None = None,
    jobs: int | None = None,
    sample: int | None = None,
    max_memory: int | str | None = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    seed: int = 0,
) -> Discovery:
    """Is something unmeasured at work in this table? What does it drive, how many states has it, and how sure are we?

    data        a dataframe, a Table, a dict of columns, or a path to CSV or Parquet
    by, time    sequences: the column that tells them apart, and the one that orders their rows
    inputs      of sequences: columns that are given, not explained (found by themselves: what never changes within a
                sequence, clocks and calendars)
    weights, ignore, types, missing, join, encoding, delimiter, decimal, sheet   how the data are read: see `read_table`
    method      "auto" decides by the data, numbers as they are; "network": where hidden variables sit, numbers cut into
                bins; "classes": clusters, one class behind all columns (clusters are no evidence: a bent cloud has
                some); "causes": overlapping yes/no causes; "sequences": rows in their order are one sequence;
                "boyen1999": sequences by the source's loop, arcs that skip slices becoming memories
    evidence    False leaves the tests out: what is found is then "not tested"
    max_hidden  at most so many; by default as many as pass the test
    level       how often something may be found where nothing is hidden, however many variables are found; a variable
                is believed only if its p-value is no larger
    draws       tables simulated without the hidden variable, at most: 99, or what a smaller level needs; the test ends
                as soon as several of them gain as much. With fewer than the level needs a finding is provisional
    resamples   how often rows (persons, blocks of a sequence) are drawn anew to see whether the variable comes back
    groups      a column whose equal values belong together (households): null tables, resamples and folds take whole
                groups, so that what only sets groups apart is not called hidden; numbers are cut into bins then
    budget      seconds, for everything; `jobs` are processes (the answer does not depend on them)
    work        pieces of work (a candidate tried, a table simulated, …): a budget that is the same on every machine
    sample      rows in which a large table's hidden variables are looked for and tested: 20,000 of more than 100,000;
                the model is learned from all rows; of numbers 5,000 of more than 20,000, and learned from these; 0
                looks at all of them
    max_memory  bytes, or "2GB", of a file of any size: docs/large.md
    client      a Dask client, or its address, whose workers read a Parquet file and run the tests
    progress    False shows none, True does; by default it is shown in a terminal and in a notebook. Or a function that
                is called with what is being done and the share that is done
    stop        an object whose `ask` ends it soon with what there is (the command line's Ctrl-C)
    checkpoint  a folder for what is done so far, every few seconds; with resume=True the run goes on from there, and
                its answer is bit for bit that of a run that was never stopped
    """
    _check(method, level, draws, resamples, max_hidden, budget, jobs, work, sample)
    files = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal, "sheet": sheet}
    how: dict[str, Any] = {"missing": missing, "join": join, **files}
    told = progress if callable(progress) else None
    if by is not None or time is not None or isinstance(data, Sequences) or method in IN_TIME:
        # (imported here: half a second that a table's user need not wait)
        from leverrier.api.time_route import discover_in_time, refuse_for_tables

        reading = {"by": by, "time": time, "ignore": ignore, "types": types, **how}
        refuse_for_tables(
            {
                "groups": groups is not None,
                "resamples": resamples != RESAMPLES and method == "boyen1999",
                "work": work is not None,
                "sample": sample is not None,
                "max_memory": max_memory is not None,
                "client": client is not None,
            }
        )
        asked = {
            "seed": seed,
            "score": score,
            "max_parents": max_parents,
            "max_hidden": max_hidden,
            "evidence": evidence,
            "weights": weights,
            "inputs": (inputs,) if isinstance(inputs, str) else tuple(inputs),
            "draws": max(draws, draws_needed(level)) if draws == DRAWS else draws,
            "resamples": resamples,
            "level": level,
        }
        in_time = Run.of(budget, jobs=jobs or 1, stop=stop, progress=told)
        return discover_in_time(data, reading, method, asked, in_time, checkpoint, resume)
    begun = clock.monotonic()
    run = Run.of(budget, work=work, jobs=jobs, client=client, stop=stop, progress=told)
    reading = {"weights": weights, "ignore": ignore, "types": types, **how}
    if groups is not None and not isinstance(data, Table):
        reading["types"] = read_as_groups(groups, types)
    with asked_as([("groups", groups)]):
        whole = _table(data, _reading(data, reading), max_memory, run.workers.client)
    whole, groups_of = grouped(whole, groups, method, run.workers.client)
    method = "network" if groups_of is not None else method
    if not whole.variables:
        raise TableError("the table has no column that can be used: see `leverrier check` for the reasons")
    most = len(whole.variables) if max_hidden is None else max_hidden
    plan = Plan(max_hidden=most, max_parents=max_parents, seed=seed)
    draws = max(draws, draws_needed(level)) if draws == DRAWS else draws
    tests = Tests(draws if evidence else 0, resamples if evidence else 0, level=level)
    rule = score or BDe()
    numbers = gaussian_columns(whole)
    as_numbers = method == "auto" and has_numbers(whole)
    rows = sample_size(whole, sample, as_numbers) if groups_of is None else 0
    counted = rows and not whole.counted and not as_numbers
    table = whole.distinct() if counted else whole.without_numbers()
    cells = as_matrix(whole, numbers).values if numbers and checkpoint is not None else b""
    about = (*identity(table), method, plan, tests, rule, numbers, cells, rows, groups_of)
    with run.kept_in(checkpoint, resume, "discover", *about) as run:

        def examined_by(run: Run, thorough: bool) -> tuple[Result, Run]:
            found = _routes(whole, table, method, rule, plan, tests, rows, run, groups_of)
            return described(found, whole, table, rule, plan, thorough=thorough, run=run), run

        try:
            examined, run = answered(
                stop, lambda: examined_by(run, evidence), lambda: examined_by(run.hurried(), False)
            )
        finally:
            run.end_ahead()
    if groups_of is None:
        examined = rows_by_themselves(examined, whole)
    if run.spent:
        examined = replace(examined, did=(*examined.did, cut_short(examined, tests)))
    shape = replace(examined.shape, quality=whole.quality)
    settings = Asked(
        method=method,
        evidence=evidence,
        level=tests.level,
        draws=tests.draws,
        resamples=tests.resamples,
        max_hidden=max_hidden,
        groups=groups if isinstance(groups, str) else None,
        weights=weights if isinstance(weights, str) else None,
        ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore),
        types={name: kind for name, kind in (types or {}).items() if isinstance(kind, str)},
        max_parents=max_parents,
        budget=budget,
        work=work,
        sample=sample,
        seed=seed,
        score=repr(rule),
        version=leverrier.__version__,
        versions=examined.settings.versions,
        finished=not run.spent,
        **kept_reading(missing, join, decimal),
    )
    return Discovery(replace(examined, shape=shape, settings=settings, seconds=clock.monotonic() - begun))


def load(path: str | os.PathLike[str]) -> Discovery:
    """What `Discovery.save` wrote."""
    name = os.fspath(path)
    try:
        text = read_whole(name).decode()
    except UnicodeDecodeError:
        raise OptionError(f"{name}: not a text file, so no saved discovery") from None
    return Discovery(load_result(text, name))


def _routes(
    whole: Table,
    table: Table,
    method: Method,
    score: Score,
    plan: Plan,
    tests: Tests,
    rows: int,
    run: Run,
    groups: Groups | None = None,
) -> Result:
    """Which questions apply: classes over numbers, hidden variables in a network, overlapping causes.

    `whole` has every row, with its numbers; `table` the same without them, or its distinct rows.
    """
    compile_first(run.workers.jobs)
    numbers = gaussian_columns(whole)
    if method == "causes" and not applies(table):
        raise OptionError('method="causes" needs at least 5 yes/no columns and 50 rows, and no weights')
    if method == "classes":
        if not numbers:
            raise OptionError('method="classes" is for tables that keep numbers: this one has none; see latent_classes')
        return examine_classes(whole, score, plan, tests, run)
    mixed = method == "auto" and has_numbers(whole)
    if method == "auto" and groups is None and not rows:
        scales = examine_traits(whole, plan, tests, run)
        if scales is not None:
            return scales
    wide = groups is None and (not mixed or few_numbers(whole)) and at_once(table, score, plan, run, rows)
    if mixed and not wide:
        return examine_numbers(whole, plan, tests, run, rows)
    grades = graded(whole, plan, run, rows) if method == "auto" and not wide else None
    by_logits = None
    if grades is not None and (groups is None or grades.first.told is Ruling.CONTINUUM):
        # (simulated tables of grades make tables of states look poor, and tables by state take a class for two)
        by_logits = examine_grades(grades, plan, tests, run)
        if grades.first.told is Ruling.CONTINUUM or by_logits.verdict.answer is Answer.FOUND:
            return by_logits
    asks_causes = (method == "causes" or (method == "auto" and not wide)) and applies(table)
    if asks_causes:
        begin_causes(table, plan, run)
    if wide and rows:
        examined = examine_many_of(table, score, plan, tests, rows, run)
    elif wide and stands(found := examine_many(table, score, plan, tests, run)):
        examined = found
    elif rows:
        examined = examine_large(table, score, plan, tests, rows, run)
    else:
        examined = examine(table, score, plan, tests, run, groups)
    if by_logits is not None and examined.verdict.answer is Answer.NOTHING:
        examined = examined if by_logits.verdict.answer is Answer.NOTHING else by_logits
    binned = sum(each.binned for each in table.columns)
    if binned:
        examined = replace(examined, did=(Binned(binned), *examined.did))
    if asks_causes:
        return with_causes(table, examined, score, plan, run, asked=not tests.none)
    return examined


def _table(data: Any, how: dict[str, Any], max_memory: int | str | None, client: Any) -> Table:
    """The table; one that a cluster reads comes as its distinct rows."""
    if client is None:
        return read_table(data, **how, max_memory=max_memory)
    if isinstance(data, Table):
        return data
    if how["weights"] is not None:
        raise OptionError(f"{option('weights')} is not for a cluster: rows that are equal are counted there")
    for name in ("missing", "join", "encoding", "delimiter", "decimal", "sheet"):
        if how[name]:
            raise OptionError(f"{option(name)} is not for a cluster: put the file right before")
    rows = RowsInParts(look_at(data, how["types"], how["ignore"]), client)
    return rows.gathered(memory_limit(max_memory)).table


def _reading(data: Any, how: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(data, Table):
        return how
    given = [name for name, value in how.items() if value is not None and not (name != "weights" and not value)]
    if given:
        raise OptionError(f"the data are a Table already: {', '.join(map(option, given))} belong to read_table")
    return {}


def _check(
    method: str,
    level: float,
    draws: int,
    resamples: int,
    max_hidden: int | None,
    budget: float | None,
    jobs: int | None,
    work: int | None,
    sample: int | None,
) -> None:
    if method not in get_args(Method):
        raise OptionError(f"method={method!r}: expected one of {', '.join(map(repr, get_args(Method)))}")
    if not 0 < level < 1:
        raise OptionError(f"level={level!r}: expected a share between 0 and 1, such as 0.01")
    for name, value, least in (("draws", draws, 0), ("resamples", resamples, 0), ("max_hidden", max_hidden or 0, 0)):
        if value < least:
            raise OptionError(f"{name}={value!r}: expected {least} or more")
    if budget is not None and not budget > 0:
        raise OptionError(f"budget={budget!r}: expected a number of seconds above 0")
    if work is not None and work < 1:
        raise OptionError(f"work={work!r}: expected a number of pieces, at least 1")
    if sample is not None and sample < 0:
        raise OptionError(f"sample={sample!r}: expected a number of rows, or 0 for all")
    if jobs is not None and jobs < 1:
        raise OptionError(f"jobs={jobs!r}: expected at least 1")
