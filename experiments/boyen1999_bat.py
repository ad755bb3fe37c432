"""[boyen1999] on the BAT network: the gold standard, table 1, Boyen–Koller against exact; the networks of figure 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.boyen1999_data import bat_network, bat_slices, pair
from leverrier.discovery.time.find_memories import find_memories
from leverrier.learning.chains.fit_dynamic import fit_dynamic
from leverrier.report.charts.slice_graph import slice_graph

TRAINING = 5_000
FROM = 10_000
"""The test part of table 1 and of the gold standard begins here."""


def gold(slices: int, exact: bool, *, data: Path) -> dict[str, Any]:
    """Bits per slice of the true network over the last slices, by Boyen–Koller with single variables, or exactly."""
    network, every = bat_network(data), bat_slices(data)
    test = every.stretches([(FROM, FROM + slices)])
    bits = network.bits_per_slice(test) if exact else network.bits_per_slice(test, "boyen-koller", [])
    return {"bits": bits, "slices": slices, "exact": exact}


def estimated(counts: str, seed: int, iterations: int, training: int, slices: int, *, data: Path) -> dict[str, Any]:
    """EM on the true structure from a random start; counts "joint" (of families) or "factored" (of single variables).

    Messages are Boyen–Koller's in both, as in the source.
    """
    network, every = bat_network(data), bat_slices(data)
    train, test = every.stretches([(0, training)]), every.stretches([(FROM, FROM + slices)])
    found = fit_dynamic(
        network,
        train,
        "boyen-koller",
        [],
        initial="random",
        seed=seed,
        counts=counts,
        prior=0.1,
        max_iterations=iterations,
        tolerance=5.0,
    )
    return {"bits": found.network.bits_per_slice(test, "boyen-koller", []), "iterations": len(found.trace) - 1}


def divergence(slices: int, *, data: Path) -> dict[str, Any]:
    """How far Boyen–Koller is from exact filtering: KL of the carried variables' marginals, bits of single slices."""
    network, every = bat_network(data), bat_slices(data)
    some = every.stretches([(0, slices)])
    carried = sorted({name for (name, lag), _ in network.edges if lag and name in network.hidden})
    exact = network.posterior(some, filtered=True)
    cost = network.surprise(some)
    found: dict[str, Any] = {"slices": slices, "exact bits": float(cost.mean())}
    for label, clusters in (("single variables", []), ("chosen clusters", None)):
        kl, near = 0.0, network.posterior(some, None, "boyen-koller", clusters, filtered=True)
        for name in carried:
            p, q = exact[name], np.maximum(near[name], 1e-300)
            kl += float((p * np.log2(np.maximum(p, 1e-300) / q)).sum(axis=1).mean())
        other = network.surprise(some, "boyen-koller", clusters)
        found[label] = {"KL bits": kl, "bits": float(other.mean()), "largest": float(np.abs(other - cost).max())}
    return found


def figure1(name: str, quick: bool, *, data: Path) -> dict[str, Any]:
    """A network of two slices after one iteration, as a chart and as arcs; for "original" the true BAT network."""
    if name == "original":
        network = bat_network(data)
    else:
        train, _ = pair(name, data, quick)
        network = find_memories(
            train, lags=3, iterations=1, most_memories=2 if quick else 4, max_iterations=6 if quick else 30
        ).network
    arcs = [[parent, lag, child] for (parent, lag), child in network.edges]
    return {"arcs": arcs, "hidden": list(network.hidden), "chart": slice_graph(network).to_dict()}
