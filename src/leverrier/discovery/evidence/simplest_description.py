"""The fewest classes that describe a small table: a finding of its own kind, apart from "no network explains it".

With five yes/no columns a network can be nearly saturated: no gain over it is possible, and the null test is silent.
What can still be said is whether a few classes describe the table (the likelihood-ratio statistic G² against all cells,
judged by tables drawn from the classes), and whether they do it with fewer numbers than the best network (BIC).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.sequential_test import MonteCarlo, monte_carlo
from leverrier.learning.classes.class_bootstrap import drawn_like, smoothed
from leverrier.learning.classes.class_fit import class_fit
from leverrier.learning.classes.latent_classes import LatentClassResult, latent_classes
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import BIC
from leverrier.models.network import Network

LEAST_COLUMNS, MOST_COLUMNS = 3, 10
MOST_CELLS = 2**12
CLASSES = range(1, 7)
STARTS = 10
DRAWS = 99
FITS = 0.05
"""Classes whose G² fewer than one drawn table in twenty reaches do not describe the table."""
TIE = 6.0
"""Of BIC: below this, neither is preferred (Raftery 1995, "positive" evidence)."""


@dataclass(frozen=True, eq=False)
class Description:
    """So many classes beside the best network without any."""

    classes: int
    parameters: int
    bic: float
    network_parameters: int
    network_bic: float
    cells: int
    g2: float
    fit: MonteCarlo
    """How often tables drawn from the classes are as far from them as this one."""
    network: Network
    """The classes as a network."""
    variable: str

    @property
    def adequate(self) -> bool:
        return self.fit.p_value > FITS

    @property
    def preferred(self) -> float:
        """BIC of the network less that of the classes, halved: about the log of the Bayes factor, in nats."""
        return (self.network_bic - self.bic) / 2

    @property
    def simplest(self) -> bool:
        """Whether classes describe the table, more than one are needed, and no network does it with fewer numbers."""
        return self.classes > 1 and self.adequate and self.preferred > -TIE / 2


def simplest_description(table: Table, seed: int, draws: int = DRAWS) -> Description | None:
    """The classes that BIC chooses, whether they fit, and the best network by the same measure; None for tables that
    are too wide, or have holes, which no statistic of all cells can count."""
    cells = float(np.prod(table.cardinalities.astype(np.float64)))
    wide = not LEAST_COLUMNS <= len(table.variables) <= MOST_COLUMNS
    if wide or table.n_missing or cells > MOST_CELLS or table.cardinalities.min() < 2:
        return None
    found = latent_classes(table, CLASSES, starts=STARTS, seed=seed, jobs=1)
    chosen = found.table.row(found.states)
    if chosen.g2 is None:
        return None
    plain = learn_structure(table, BIC(), method="best", jobs=1)
    return Description(
        found.states,
        chosen.parameters,
        chosen.bic,
        plain.network.dimension,
        -2 * plain.score,
        round(cells),
        chosen.g2,
        _how_far(found, table, chosen.g2, seed, draws),
        found.network,
        found.variable,
    )


def _how_far(found: LatentClassResult, table: Table, observed: float, seed: int, draws: int) -> MonteCarlo:
    """G² of tables drawn from the classes, each fitted anew, against the table's own."""
    begin, hidden = smoothed(found.network), {found.variable: found.states}
    seen: list[float] = []
    for rng in np.random.default_rng([seed, 59]).spawn(draws):
        drawn = drawn_like(table, found.network, rng)
        fitted = fit(begin, drawn, hidden=hidden, initial=begin, starts=1, jobs=1)
        seen.append(class_fit(fitted, found.variable).g2 or 0.0)
        test = monte_carlo(observed, seen, draws)
        if test is not None:
            return test
    raise AssertionError("the last draw ends the test")
