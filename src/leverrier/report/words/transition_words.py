"""Latent transitions in words: classes at each wave, the tables between waves, what the tests say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from leverrier.learning.regimes.latent_transitions import LatentTransitions, RatioTest
from leverrier.models.regimes.emission import Family

SMALL = 0.05
MOST = 12


def transition_words(found: LatentTransitions) -> str:
    """All of it, a line each."""
    return "\n".join(_lines(found))


def _lines(found: LatentTransitions) -> Iterator[str]:
    many = "class" if found.states == 1 else "classes"
    persons = found.fit.panel.persons
    fit = f"log-likelihood {found.log_likelihood:.2f}, BIC {found.bic:.1f}"
    yield f"{found.states} {many} of {persons:,} persons at {len(found.waves)} waves ({fit})."
    for row in found.table:
        chosen = "  <" if row.states == found.states else ""
        size = f"{row.parameters} parameters, BIC {row.bic:.1f}"
        yield f"  {row.states}: log-likelihood {row.log_likelihood:.2f}, {size}{chosen}"
    yield "Share of each class by wave:"
    for place, wave in enumerate(found.waves[:MOST]):
        yield f"  {wave}: " + ", ".join(f"{share:.1%}" for share in found.shares[place])
    labels = {each.name: each.states for each in found.network.variables}
    yield "What each class shows:"
    for name, table in found.profiles.items():
        for k in range(found.states):
            if found.fit.families[name] == Family.CATEGORY:
                said = ", ".join(f"{label} {share:.1%}" for label, share in zip(labels[name], table[k], strict=True))
            else:
                said = f"{table[k, 0]:.4g} (spread {table[k, 1]:.3g})"
            yield f"  {name}, class {k + 1}: {said}"
    if found.states > 1:
        yield "Moves from one wave to the next (by row the class before):"
        yield from _table(found.transition, found.standard_errors.transition)
        yield from _by_wave(found)
    yield from _test(
        found.invariance, "classes mean the same at every wave", "what classes mean changes over the waves"
    )
    yield from _test(found.homogeneity, "people move alike between all waves", "moves differ between waves")


def _table(table: np.ndarray, errors: np.ndarray) -> Iterator[str]:
    plain = errors.shape == table.shape
    for k, row in enumerate(table):
        cells = [
            f"{share:.3f}" + (f" ({errors[k, j]:.3f})" if plain and np.isfinite(errors[k, j]) else "")
            for j, share in enumerate(row)
        ]
        yield f"  class {k + 1}: " + ", ".join(cells)


def _by_wave(found: LatentTransitions) -> Iterator[str]:
    if found.by_wave is None:
        return
    for wave, table in list(found.transitions.items())[:MOST]:
        yield f"  after {wave}: " + "; ".join(", ".join(f"{share:.2f}" for share in row) for row in table)


def _test(one: RatioTest | None, same: str, other: str) -> Iterator[str]:
    if one is not None:
        said = other if one.p_value < SMALL else f"nothing speaks against it that {same}"
        ratio = f"likelihood ratio {one.statistic:.1f}, {one.degrees} degrees of freedom, p = {one.p_value:.2g}"
        yield f"{said[:1].upper()}{said[1:]} ({ratio})."
