"""Pieces of a search as plain values for a checkpoint, and back: a resumed run takes them as they were, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

import leverrier
from leverrier.data.table import Table
from leverrier.discovery.plan import Plan
from leverrier.discovery.pool import prepare, ready, streamed
from leverrier.errors import FormatError, LeverrierError, OptionError
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.checkpoint import Checkpoint, Journal, marked

Result = TypeVar("Result")
States = Mapping[str, tuple[Any, ...]]


def same(value: Any) -> Any:
    """What is plain already."""
    return value


@contextmanager
def kept_in(
    checkpoint: str | os.PathLike[str] | None, resume: bool, name: str, table: Table, *asked: Any
) -> Iterator[Journal | None]:
    """The journal of a run on this table, if one is asked for: saved at the end, whatever happens."""
    if checkpoint is None:
        if resume:
            raise OptionError("resume=True: say where the run was kept, checkpoint=…")
        yield None
        return
    columns = [(each.name, each.states, each.cuts) for each in table.columns]
    weights = b"" if table.weights is None else table.weights
    mark = marked(name, leverrier.__version__, columns, weights, table.codes, *asked)
    with Journal(Checkpoint(checkpoint, name, mark), resume=resume) as journal:
        yield journal


def once(
    plan: Plan,
    key: tuple[Any, ...],
    compute: Callable[[], Result],
    write: Callable[[Result], Any] = same,
    read: Callable[[Any], Result] = same,
    otherwise: Callable[[], Result] | None = None,
) -> Result:
    """What `compute` gives, taken from the plan's checkpoint if it was worked out before.

    What a budget or an interrupt may have cut short is not kept. When time has run out and nothing is kept, `otherwise`
    is the answer, if there is one.
    """
    journal = plan.journal
    name = "" if journal is None else name_of(key)
    kept = None if journal is None else journal.get(name)
    if kept is not None:
        plan.worked()
        return _read(read, kept)
    if otherwise is not None and plan.spent:
        return otherwise()
    result = compute()
    if journal is not None and not plan.spent:
        journal.add(name, write(result))
    plan.worked()
    return result


def kept(plan: Plan, key: tuple[Any, ...], read: Callable[[Any], Result]) -> Result | None:
    """A piece of the plan's checkpoint, if it is there."""
    piece = None if plan.journal is None else plan.journal.get(name_of(key))
    return None if piece is None else _read(read, piece)


def made(plan: Plan, key: tuple[Any, ...], compute: Callable[[], Result]) -> Result:
    """What `compute` gives, at hand when a run that was cut answers from what it has: in memory only, never on disk."""
    if plan.journal is None:
        return compute()
    name = name_of(key)
    if name not in plan.journal.made:
        plan.journal.made[name] = compute()
    return plan.journal.made[name]


def is_made(plan: Plan, key: tuple[Any, ...]) -> bool:
    return plan.journal is not None and name_of(key) in plan.journal.made


def each_once(
    plan: Plan,
    jobs: int,
    kind: str,
    function: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    keys: Sequence[tuple[Any, ...]],
    write: Callable[[Result], Any] = same,
    read: Callable[[Any], Result] = same,
) -> list[Result]:
    """The same for independent calls in other processes, in order; fewer if time or the user's patience runs out."""
    own = [(kind, *key) for key in keys]
    return list(_in_order_there(replace(plan, jobs=jobs), function, calls, own, write, read))


def in_order(
    plan: Plan,
    here: Callable[..., Result],
    there: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    keys: Sequence[tuple[Any, ...]],
    write: Callable[[Result], Any] = same,
    read: Callable[[Any], Result] = same,
) -> Iterator[Result]:
    """Independent calls, each result in its turn: kept ones as they were, others worked out here until other processes
    are ready, and then there. Fewer if time runs out."""
    for number, (call, key) in enumerate(zip(calls, keys, strict=True)):
        if number and ready(plan):
            yield from _in_order_there(plan, there, calls[number:], keys[number:], write, read)
            return
        kept = plan.journal is not None and plan.journal.get(name_of(key)) is not None
        if plan.spent and not kept:
            return
        yield once(plan, key, partial(here, *call), write, read)
        prepare(plan.jobs, int)  # (now at the latest: what they will run has been compiled)


def _in_order_there(
    plan: Plan,
    there: Callable[..., Result],
    calls: Sequence[tuple[Any, ...]],
    keys: Sequence[tuple[Any, ...]],
    write: Callable[[Result], Any],
    read: Callable[[Any], Result],
) -> Iterator[Result]:
    journal = plan.journal
    most = len(calls) if plan.work is None else plan.work.left
    names = [name_of(key) for key in keys[:most]]
    kept = {} if journal is None else {name: journal.get(name) for name in names if journal.get(name) is not None}
    left = [call for name, call in zip(names, calls, strict=False) if name not in kept]
    results = streamed(plan, there, left)
    for name in names:
        if name in kept:
            yield _read(read, kept[name])
        elif plan.spent or (result := next(results, None)) is None:
            return
        else:
            if journal is not None and not plan.spent:
                journal.add(name, write(result))
            yield result
        plan.worked()


def name_of(key: Sequence[Any]) -> str:
    """A short name for a piece; graphs count by their arcs."""
    plain = [part.parent_map if isinstance(part, Graph) else part for part in key]
    return f"{key[0]} {marked(*plain)[:24]}"


def _read(read: Callable[[Any], Result], kept: Any) -> Result:
    try:
        return read(kept)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, LeverrierError) as problem:
        raise FormatError(f"the checkpoint holds a piece of something else ({problem}): remove it") from None


def write_graph(graph: Graph) -> dict[str, Any]:
    return {node: list(graph.parents(node)) for node in graph}


def read_graph(piece: Mapping[str, Any]) -> Graph:
    return Graph.from_parents({node: tuple(parents) for node, parents in piece.items()})


def write_network(network: Network, known: States) -> dict[str, Any]:
    """Arcs and tables; of the states only those that the data do not say."""
    own = {node: list(network.states[node]) for node in network.graph if node not in known}
    return {"graph": write_graph(network.graph), "tables": dict(network.tables), "own": own}


def read_network(piece: Mapping[str, Any], known: States) -> Network:
    graph = read_graph(piece["graph"])
    own = {node: tuple(labels) for node, labels in piece["own"].items()}
    return Network(graph, {node: own[node] if node in own else known[node] for node in graph}, piece["tables"])


def scored_network_once(
    plan: Plan, key: tuple[Any, ...], compute: Callable[[], tuple[Network, float]], known: States
) -> tuple[Network, float]:
    """A network and its score."""
    return once(
        plan,
        key,
        compute,
        lambda found: {"network": write_network(found[0], known), "score": found[1]},
        lambda piece: (read_network(piece["network"], known), float(piece["score"])),
    )


def network_once(plan: Plan, key: tuple[Any, ...], compute: Callable[[], Network], known: States) -> Network:
    return once(plan, key, compute, lambda found: write_network(found, known), lambda piece: read_network(piece, known))


def read_codes(codes: Any, table: Table) -> Table:
    """The same columns with other cells."""
    given = np.asarray(codes)
    if given.shape != table.codes.shape or given.dtype != table.codes.dtype:
        raise ValueError("cells of another table")
    return Table(table.columns, given, table.weights)
