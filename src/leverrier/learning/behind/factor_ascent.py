"""A continuum F ~ N(0, 1) behind numbers, exactly, on their Gram matrix: the cost of EM does not depend on the rows.

child_c = terms · β_c + λ_c F + e_c, e_c ~ N(0, ψ_c). Given a row, F is normal with variance v = 1 / (1 + Σ λ²/ψ) and a
mean that is linear in the row's design, a · d; so every expectation is a product with the Gram matrix.

Another continuum may stand above: F ~ N(γ s, 1), s its own scores. Given the other's children its value is normal with
mean s and the same variance in every row, so that two continua that go together are told exactly by the first one's
children and then those of the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.behind.ascent import Behind
from leverrier.learning.behind.child_fits import FLOOR, FLOOR_ROWS, floored, solved
from leverrier.models.behind.block import Block
from leverrier.models.behind.child_density import LOG_2_PI
from leverrier.models.behind.links import Link, NumberFit, continuum, terms_of

CLOSE, MOST = 0.005, 400
FINE = 101
"""Nodes on which a continuum behind numbers is told."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A continuum behind numbers: by child the design's coefficients, the loading and the variance left."""

    links: tuple[Link, ...]
    coefficients: Floats
    """(children, columns of the design)."""
    loadings: Floats
    variances: Floats
    log_likelihood: float
    dimension: int
    trace: tuple[float, ...] = ()
    above: Floats | None = None
    """(continua above, columns of the design): the weights of their scores."""
    slopes: Floats | None = None
    """γ, for each of these."""

    @property
    def shift(self) -> Floats:
        """The weights of what F is expected to be in a row before its children are seen."""
        return _shift(self.above, self.slopes, self.coefficients.shape[1])

    @property
    def children(self) -> tuple[str, ...]:
        return tuple(link.column for link in self.links)

    def score(self, block: Block) -> float:
        return self.log_likelihood - self.dimension * block.price


def expected(
    places: list[int], coefficients: Floats, loadings: Floats, variances: Floats, shift: Floats
) -> tuple[Floats, float]:
    """(a, v): E[F | row] = a · design and its variance."""
    spread = 1 / (1 + float((loadings**2 / variances).sum()))
    weights = spread * loadings / variances
    a = spread * shift - weights @ coefficients
    np.add.at(a, places, weights)
    return a, spread


def _shift(above: Floats | None, slopes: Floats | None, columns: int) -> Floats:
    return np.zeros(columns) if above is None or slopes is None else slopes @ above


def score_weights(block: Block, found: Factor) -> tuple[Floats, float]:
    """(a, v) of what was found."""
    places = _places(block, found.links)
    return expected(places, found.coefficients, found.loadings, found.variances, found.shift)


def row_scores(block: Block, found: Factor) -> tuple[Floats, float]:
    """E[F | row], and its standard error, the same for each row."""
    a, spread = score_weights(block, found)
    return block.design @ a, float(np.sqrt(spread))


def by_itself(block: Block, found: Factor) -> Factor:
    """The same with nothing above it, as wide as it is over all rows: N(0, 1) again."""
    if found.above is None:
        return found
    mean = float(block.gram[0] @ found.shift) / block.rows
    width = np.sqrt(1 + float(found.shift @ block.gram @ found.shift) / block.rows - mean**2)
    coefficients = found.coefficients.copy()
    coefficients[:, 0] += found.loadings * mean
    return replace(found, coefficients=coefficients, loadings=found.loadings * width, above=None, slopes=None)


def on_nodes(found: Factor) -> Behind:
    """The same continuum on nodes fine enough for any row: what values and posteriors are made of."""
    latent = continuum(FINE)
    fits = []
    for own, loading, variance in zip(found.coefficients, found.loadings, found.variances, strict=True):
        terms = np.flatnonzero(own[1:]) + 1
        constants = own[0] + loading * latent.basis[:, 0]
        fits.append(NumberFit(terms, constants, own[terms], np.full(FINE, variance)))
    return Behind(latent, found.links, tuple(fits), found.log_likelihood, found.dimension, np.empty((0, FINE)))


def ascend_factor(
    block: Block,
    links: tuple[Link, ...],
    loadings: Floats | None = None,
    *,
    close: float = CLOSE,
    most: int = MOST,
    floor: bool = True,
    above: Floats | None = None,
) -> Factor:
    """EM from loadings (those of the first principal component if none are given), with other continua `above` it."""
    places = _places(block, links)
    terms = [np.concatenate([[0], terms_of(block, link)]).astype(np.intp) for link in links]
    coefficients, variances = _alone(block, places, terms)
    loadings = _first_loadings(block, places, coefficients) if loadings is None else loadings
    variances = np.maximum(variances - loadings**2, 0.1 * variances)
    slopes = None if above is None else np.zeros(len(above))
    trace: list[float] = []
    value = -np.inf
    for _ in range(most):
        shift = _shift(above, slopes, block.design.shape[1])
        value = _log_likelihood(block, links, coefficients, loadings, variances, shift)
        trace.append(value - (FLOOR_ROWS / 2 * (np.log(variances) + FLOOR / variances).sum() if floor else 0.0))
        if len(trace) > 1 and trace[-1] - trace[-2] < close:
            break
        a, spread = expected(places, coefficients, loadings, variances, shift)
        cross = block.gram @ a  # Σ design · E[F]
        if above is not None:
            slopes = solved(above @ block.gram @ above.T, above @ cross)
        square = block.rows * spread + a @ cross  # Σ E[F²]
        for c, (at, own) in enumerate(zip(places, terms, strict=True)):
            p = len(own)
            gram = np.empty((p + 1, p + 1))
            gram[:p, :p], gram[:p, p], gram[p, :p], gram[p, p] = (
                block.gram[np.ix_(own, own)],
                cross[own],
                cross[own],
                square,
            )
            right = np.append(block.gram[own, at], cross[at])
            solution = solved(gram, right)
            ssr = block.gram[at, at] - 2 * right @ solution + solution @ gram @ solution
            coefficients[c] = 0
            coefficients[c, own], loadings[c] = solution[:p], solution[p]
            variances[c] = floored(ssr, block.rows) if floor else max(float(ssr) / block.rows, 1e-12)
    dimension = sum(len(own) + 2 for own in terms) + (0 if above is None else len(above))
    return Factor(links, coefficients, loadings, variances, value, dimension, tuple(trace), above, slopes)


def _places(block: Block, links: tuple[Link, ...]) -> list[int]:
    return [block.columns[link.column].faces[link.face].at for link in links]


def _alone(block: Block, places: list[int], terms: list[np.ndarray]) -> tuple[Floats, Floats]:
    """The regressions without the continuum."""
    coefficients = np.zeros((len(places), block.design.shape[1]))
    variances = np.empty(len(places))
    for c, (at, own) in enumerate(zip(places, terms, strict=True)):
        solution = solved(block.gram[np.ix_(own, own)], block.gram[own, at])
        coefficients[c, own] = solution
        variances[c] = floored(block.gram[at, at] - block.gram[own, at] @ solution, block.rows)
    return coefficients, variances


def _residual_products(block: Block, places: list[int], coefficients: Floats) -> Floats:
    """Σ over rows of residuals' products, before the continuum."""
    left = -coefficients
    left[np.arange(len(places)), places] += 1
    return left @ block.gram @ left.T


def _first_loadings(block: Block, places: list[int], coefficients: Floats) -> Floats:
    products = _residual_products(block, places, coefficients) / block.rows
    values, vectors = np.linalg.eigh(products)
    return np.sqrt(max(float(values[-1]) * 0.7, 1e-6)) * vectors[:, -1]


def _log_likelihood(
    block: Block, links: tuple[Link, ...], coefficients: Floats, loadings: Floats, variances: Floats, shift: Floats
) -> float:
    """Σ log N(residuals | 0, λλᵀ + Ψ), in nats of z."""
    products = _residual_products(block, _places(block, links), coefficients + np.outer(loadings, shift))
    inner = loadings / variances
    spread = 1 / (1 + float(loadings @ inner))
    quadratic = (np.diag(products) / variances).sum() - spread * inner @ products @ inner
    logs = np.log(variances).sum() - np.log(spread) + len(links) * LOG_2_PI
    slopes = sum(block.columns[link.column].faces[link.face].total for link in links)
    return float(-0.5 * (block.rows * logs + quadratic) + slopes)
