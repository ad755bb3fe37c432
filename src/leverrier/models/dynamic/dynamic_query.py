"""What a dynamic network says of sequences: their probability, posteriors, the most probable path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Table, Variable, code_type
from leverrier.errors import OptionError
from leverrier.inference.chains.boyen_koller import by_cluster, choose_clusters
from leverrier.inference.chains.forward_backward import Chain, chain_of
from leverrier.inference.chains.slice_passes import SlicePasses, one_cluster
from leverrier.inference.chains.slice_paths import most_probable
from leverrier.models.dynamic.dynamic_unrolled import Laid, lay, parents_in
from leverrier.models.dynamic.sliced import Sliced
from leverrier.models.impossible import ImpossibleSequence
from leverrier.words_of import told

Inference = Literal["exact", "boyen-koller"]
NamedClusters = Sequence[Sequence[str]]


def engine(
    laid: Laid,
    inference: Inference = "exact",
    clusters: NamedClusters | None = None,
    keep: Sequence[str] = (),
    *,
    tracked: bool = True,
) -> Chain | SlicePasses:
    """Who passes messages: the joint state where it is small, junction trees otherwise."""
    if inference not in ("exact", "boyen-koller"):
        raise OptionError(f'inference={inference!r}: expected "exact" or "boyen-koller"')
    if inference == "exact" and clusters is not None:
        raise OptionError('clusters= are for inference="boyen-koller": exact inference keeps everything together')
    kept = [laid.place[name] for name in keep]
    if inference == "exact":
        chain = chain_of(laid.unrolled, kept) if tracked or not kept else None
        return chain or SlicePasses(laid.unrolled, one_cluster, kept, tracked=tracked)
    return SlicePasses(laid.unrolled, by_cluster(chosen_clusters(laid, clusters)), kept, tracked=tracked)


def chosen_clusters(laid: Laid, clusters: NamedClusters | None) -> Sequence[Sequence[int]]:
    """The clusters named, by number, or those that the arcs suggest."""
    if clusters is None:
        return choose_clusters(laid.unrolled)
    seen: set[str] = set()
    for name in (name for cluster in clusters for name in cluster):
        if name not in laid.place:
            raise OptionError(f"clusters= names {name!r}, which is no variable of the network")
        if name in seen:
            raise OptionError(f"clusters= names {name!r} twice: clusters must be disjoint")
        seen.add(name)
    return [[laid.place[name] for name in cluster] for cluster in clusters]


def slice_log_likelihood(
    network: Sliced, data: Any, inference: Inference = "exact", clusters: NamedClusters | None = None
) -> Floats:
    """log P(slice | the slices before it in its sequence), −∞ from where a sequence is impossible."""
    laid = lay(network, network.read(data))
    theta, taken = laid.theta(network)
    return engine(laid, inference, clusters, tracked=False).evidence(theta) + taken + laid.direct


def posterior(
    network: Sliced,
    data: Any,
    variables: Sequence[str],
    inference: Inference = "exact",
    clusters: NamedClusters | None = None,
    *,
    filtered: bool = False,
) -> dict[str, Floats]:
    """For each variable (slices, states): P(variable | the whole sequence), or given the slices so far (filtered)."""
    laid = lay(network, network.read(data), variables)
    theta, _ = laid.theta(network)
    open_ = [name for name in variables if laid.unrolled.uncertain[laid.place[name]]]
    kept = np.empty((laid.n_slices, 0))
    if open_:
        found = engine(laid, inference, clusters, open_, tracked=not filtered)
        kept = found.expectation(theta).kept if isinstance(found, Chain) or not filtered else found.filtered(theta)[1]
    result, first = {}, 0
    for name in variables:
        size, codes = network.cardinality(name), laid.unrolled.codes[laid.place[name]]
        table = np.zeros((laid.n_slices, size))
        if name in open_:
            table = kept[:, first : first + size].copy()
            first += size
        seen = codes >= 0
        table[seen] = np.eye(size)[codes[seen]]
        result[name] = table
    return result


def fill_leaves(laid: Laid, theta: Floats, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """What nothing depends on takes its most probable state, now that its parents have theirs."""
    found = codes.copy()
    for section in laid.sections:
        if section.hole < 0:
            continue
        child = laid.place[section.name]
        here = np.flatnonzero((laid.unrolled.stage_of == section.stage) & (codes[child] < 0))
        parents = laid.network.slice(section.stage)[section.name].parents
        given = tuple(codes[laid.place[parent], here - lag] for parent, lag in parents)
        sure = np.all([states >= 0 for states in given], axis=0) if given else np.ones(len(here), dtype=np.bool_)
        rows = section.of(theta)[tuple(states[sure] for states in given)]
        found[child, here[sure]] = np.broadcast_to(rows, (int(sure.sum()), rows.shape[-1])).argmax(axis=-1)
    return found


def most_probable_path(network: Sliced, data: Any) -> Sequences:
    """The sequences with everything unobserved filled in, each sequence all together as is most probable."""
    sequences = network.read(data)
    missing, inner = sequences.table.missing, parents_in(network)
    shown = {name for name in sequences.variables if np.any(sequences.table.column(name) != missing)}
    laid = lay(network, sequences, [name for name in network.variables if name in inner or name not in shown])
    theta, _ = laid.theta(network)
    laid.put_holes(theta, maximise=True)
    codes = fill_leaves(laid, theta, most_probable(laid.unrolled, theta))
    kind = code_type(max(len(labels) for labels in network.states.values()))
    cells = np.where(codes < 0, np.iinfo(kind).max, codes).astype(kind)
    own = {column.name: column for column in sequences.table.columns}
    columns = tuple(own.get(name, Variable(name, labels)) for name, labels in network.states.items())
    notes = sequences.notes
    if np.any(codes < 0):
        notes += told([ImpossibleSequence()])
    return replace(sequences, table=Table(columns, cells), notes=notes)
