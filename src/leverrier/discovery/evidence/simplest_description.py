"""The fewest classes that describe a small table: a finding of its own kind, apart from "no network explains it".

With five yes/no columns a network can be nearly saturated: no gain over it is possible, and the null test is silent.
What can still be said is whether a few classes describe the table (the likelihood-ratio statistic G² against all cells,
judged by tables drawn from the classes), and whether they do it with fewer numbers than the best network (BIC).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import xlogy

from leverrier.data.table import Table
from leverrier.discovery.evidence.one_trait import Trait, one_trait
from leverrier.discovery.evidence.sequential_test import MonteCarlo, monte_carlo
from leverrier.learning.classes.class_bootstrap import drawn_like, smoothed
from leverrier.learning.classes.class_fit import class_fit
from leverrier.learning.classes.latent_classes import LatentClassResult, latent_classes
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.learn_structure import StructureResult, learn_structure
from leverrier.learning.structure.score import BIC
from leverrier.learning.structure.structural_em import Families
from leverrier.models.network import Network

LEAST_COLUMNS, MOST_COLUMNS = 3, 10
MOST_CELLS = 2**12
CLASSES = range(1, 7)
STARTS = 10
DRAWS = 99
FITS = 0.05
"""Classes whose G² fewer than one drawn table in twenty reaches do not describe the table."""
VERY = 10.0
"""Of BIC: with less neither two classes nor one trait can be ruled out (Raftery 1995: from here on "very strong")."""
TIE = 6.0
"""Of BIC: below this, neither is preferred (Raftery 1995, "positive" evidence)."""


@dataclass(frozen=True)
class Simplest:
    """So many classes, or one trait, beside the best network without any."""

    classes: int
    """0: one trait, in grades."""
    parameters: int
    network_parameters: int
    cells: int
    g2: float
    fit: float
    """The p-value of G²: how often tables drawn from the classes are as far from them as this one."""
    preferred: float
    """BIC of the network less that of the classes, halved: about the log of the Bayes factor, in nats."""
    open: bool = False
    """Whether two classes and one trait describe the table about equally well."""
    columns: tuple[str, ...] = ()
    """Those that are described; none where all are."""
    over_kinds: float | None = None
    """The same as `preferred`, against the best network whose families may be of every kind; None where that is not
    better than one of tables."""

    @property
    def adequate(self) -> bool:
        return self.fit > FITS

    @property
    def several(self) -> bool:
        """Whether anything is behind the columns in this description: one class is none."""
        return self.classes != 1

    @property
    def simplest(self) -> bool:
        """Whether classes describe the table, more than one are needed, and no network does it with fewer numbers."""
        against = self.preferred if self.over_kinds is None else self.over_kinds
        return self.several and self.adequate and against > -TIE / 2

    def clear(self, level: float) -> bool:
        """Whether it is so by more than chance: if a network made the table, a Bayes factor of 1 / level comes up with
        a probability of at most the level (Markov's inequality)."""
        return self.simplest and self.preferred >= -math.log(level)


@dataclass(frozen=True, eq=False)
class Description:
    """The simplest description, with its network."""

    said: Simplest
    network: Network
    variable: str


def simplest_description(table: Table, seed: int, draws: int = DRAWS, name: str = "class") -> Description | None:
    """The classes that BIC chooses, whether they fit, and the best network by the same measure; None for tables that
    are too wide, or have holes, which no statistic of all cells can count."""
    cells = float(np.prod(table.cardinalities.astype(np.float64)))
    wide = not LEAST_COLUMNS <= len(table.variables) <= MOST_COLUMNS
    if wide or table.n_missing or table.weights is not None or cells > MOST_CELLS or table.cardinalities.min() < 2:
        return None
    found = latent_classes(table, CLASSES, starts=STARTS, seed=seed, jobs=1, name=name)
    chosen = found.table.row(found.states)
    if chosen.g2 is None:
        return None
    plain, ahead_by_kinds = _best_network(table)
    dimension, best = plain.network.dimension, -2 * plain.score
    trait = one_trait(table) if found.states == 2 else None  # (three classes differ in more than one direction)
    ahead = 0.0 if trait is None else chosen.bic - trait.bic(table.total)
    either = trait is not None and abs(ahead) <= VERY
    if trait is not None and ahead > 0:
        g2 = _g2(trait, table)
        fit = _how_far(partial(_trait_g2, trait, table), g2, seed, draws).p_value
        preferred = (best - trait.bic(table.total)) / 2
        said = Simplest(0, trait.parameters, dimension, round(cells), g2, fit, preferred, either)
        said = _against_kinds(said, ahead_by_kinds)
        if said.adequate:
            return Description(said, trait.network(table, found.variable), found.variable)
        either = False
    draw = partial(_class_g2, smoothed(found.network), found, table)
    fit, preferred = _how_far(draw, chosen.g2, seed, draws).p_value, (best - chosen.bic) / 2
    said = Simplest(found.states, chosen.parameters, dimension, round(cells), chosen.g2, fit, preferred, either)
    return Description(_against_kinds(said, ahead_by_kinds), found.network, found.variable)


def needed(told: Description, table: Table, seed: int) -> tuple[str, ...]:
    """The columns without those that hardly depend on the classes: BIC is not clearly better with them in the
    description than with each by itself. The worst of them goes first, and the others are asked again."""
    kept = table
    while len(kept.variables) > LEAST_COLUMNS:
        whole = _bic(told.said, kept, seed)
        saved = {
            v: whole - _alone(kept, v) - _bic(told.said, kept.select([w for w in kept.variables if w != v]), seed)
            for v in kept.variables
        }
        worst = max(saved, key=lambda v: saved[v])
        if saved[worst] <= -TIE:
            break
        kept = kept.select([v for v in kept.variables if v != worst])
    return kept.variables


def _bic(said: Simplest, table: Table, seed: int) -> float:
    """Of so many classes, or of one trait, behind all columns of a table."""
    if not said.classes:
        trait = one_trait(table)
        assert trait is not None
        return trait.bic(table.total)
    return latent_classes(table, [said.classes], starts=STARTS, seed=seed, jobs=1).table.row(said.classes).bic


def _alone(table: Table, name: str) -> float:
    """BIC of one column that depends on nothing."""
    counts = np.bincount(table.column(name), minlength=len(table.states[name]))
    return float((len(counts) - 1) * np.log(table.total) - 2 * xlogy(counts, counts / counts.sum()).sum())


def _against_kinds(said: Simplest, ahead: float) -> Simplest:
    return replace(said, over_kinds=said.preferred - ahead) if ahead > 0 else said


def _best_network(table: Table) -> tuple[StructureResult, float]:
    """By BIC, of tables alone; and how far the best with families of every kind is ahead: noisy-ors and logits may
    take fewer numbers than tables do."""
    every: tuple[Families, ...] = ("tables", "auto")
    plain, free = (learn_structure(table, BIC(), method="best", families=kinds, jobs=1) for kinds in every)
    return plain, free.score - plain.score


def _how_far(draw: Callable[[np.random.Generator], float], observed: float, seed: int, draws: int) -> MonteCarlo:
    """G² of tables drawn from the description, each fitted anew, against the table's own."""
    seen: list[float] = []
    for rng in np.random.default_rng([seed, 59]).spawn(draws):
        seen.append(draw(rng))
        test = monte_carlo(observed, seen, draws)
        if test is not None:
            return test
    raise AssertionError("the last draw ends the test")


def _class_g2(begin: Network, found: LatentClassResult, table: Table, rng: np.random.Generator) -> float:
    drawn = drawn_like(table, found.network, rng)
    fitted = fit(begin, drawn, hidden={found.variable: found.states}, initial=begin, starts=1, jobs=1)
    return class_fit(fitted, found.variable).g2 or 0.0


def _trait_g2(trait: Trait, table: Table, rng: np.random.Generator) -> float:
    drawn = trait.sample(table, rng)
    again = one_trait(drawn, trait)
    assert again is not None
    return _g2(again, drawn)


def _g2(trait: Trait, table: Table) -> float:
    """Twice the log-likelihood of all cells less that of the trait."""
    counts = np.unique(table.codes, axis=1, return_counts=True)[1]
    return 2 * (float(counts @ np.log(counts / counts.sum())) - trait.log_likelihood)
