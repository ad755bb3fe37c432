"""Three steps: classes first, then rows assigned, then predictors and outcomes with the assignment's errors undone.

ML [vermunt2010 eq. 13-15]: the assigned class is an indicator whose error rates are known. BCH [bolck2004; vermunt2010
eq. 9-12]: rows are weighed by the inverse of the error rates. Standard errors hold for all three steps together
[bakk2014]: each row's influence on the measurement model and on the error rates is carried into the third step.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.errors import OptionError
from leverrier.learning.classes.fitting.class_climb import ClassFitted, bounds_of, by_em, edges, newton
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance, default_errors
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.class_likelihood import ClassLikelihood, make_likelihood
from leverrier.learning.classes.parts.densities import Known
from leverrier.learning.classes.parts.indicator import Indicator, IndicatorKind
from leverrier.learning.classes.parts.indicator_making import Item, make_indicators
from leverrier.learning.classes.parts.terms import Terms
from leverrier.run.one_thread import one_thread
from leverrier.status import Status

FEWEST_STEPS, MOST_STEPS = 20, 60
"""Away from the first step's parameters and back, to see how uncertain it leaves the classes of the rows."""


WELL_TOLD = 0.1
"""With fewer rows assigned to a wrong class, the fit's own error rates do: with items .9 apart they are right, and
averages undo a little too much (a constant was off by .10 instead of .03)."""


class Steps(Enum):
    """How predictors and outcomes enter. The value is what users write."""

    ONE = 1
    ML = "ml"
    BCH = "bch"


@dataclass(frozen=True, eq=False)
class Classification:
    """Rows assigned to their likeliest class, and how often that is wrong.

    A fit takes its rows for better told apart than they are: with 500 rows it may say that 13 % of them are assigned
    wrongly where 22 % are, and effects come out too small. So the errors are those of classes as uncertain as the fit
    leaves them: averages over measurement models as far off as the first step's own covariance says.
    """

    fitted: ClassFitted

    @cached_property
    def assigned(self) -> Integers:
        """Of each pattern."""
        return self.fitted.likelihood.posterior(self.fitted.theta).argmax(axis=1).astype(np.int64)

    @cached_property
    def _is(self) -> Floats:
        return np.eye(self.fitted.classes)[self.assigned]

    @cached_property
    def _models(self) -> list[Floats]:
        """Measurement models that the rows leave possible: steps away from θ and their mirror images."""
        fitted = self.fitted
        values, vectors = np.linalg.eigh(ClassCovariance(fitted).matrix(default_errors(fitted)))
        moved = _even_directions(len(values)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        limits = bounds_of(fitted.likelihood)
        models = [np.clip(fitted.theta + sign * step, -limits, limits) for step in moved for sign in (1.0, -1.0)]
        shares = np.mean([fitted.likelihood.posterior(theta) for theta in models], axis=0)
        sizes = fitted.likelihood.weights @ shares
        wrong = 1.0 - float(sizes @ np.diag(self._table(shares)) / sizes.sum())
        return models if wrong > WELL_TOLD else [fitted.theta]

    @cached_property
    def _each(self) -> list[Floats]:
        """Posteriors (patterns, classes) by every model."""
        return [self.fitted.likelihood.posterior(theta) for theta in self._models]

    @cached_property
    def shares(self) -> Floats:
        """(patterns, classes): the posteriors' mean over models."""
        return np.mean(self._each, axis=0)

    @cached_property
    def _sizes(self) -> Floats:
        return self.fitted.likelihood.weights @ self.shares

    @cached_property
    def errors(self) -> Floats:
        """D[t, s]: how often a row of class t is assigned to s."""
        return self._table(self.shares)

    def _table(self, shares: Floats) -> Floats:
        weighed = shares * self.fitted.likelihood.weights[:, None]
        return (weighed.T @ self._is) / np.maximum(weighed.sum(axis=0), 1e-300)[:, None]

    @cached_property
    def to_invert(self) -> Floats:
        """D so that its inverse is right on average: the inverse of a table that is uncertain by E is too large by
        D⁻¹ E D⁻¹ E D⁻¹, to second order."""
        inverse = np.linalg.pinv(self.errors)
        apart = [self._table(shares) for shares in self._each]
        centre = np.mean(apart, axis=0)
        return self.errors + np.mean([(own - centre) @ inverse @ (own - centre) for own in apart], axis=0)

    @property
    def wrong(self) -> float:
        """The share of rows assigned to a class that is not theirs."""
        return 1.0 - float(self._sizes @ np.diag(self.errors) / self._sizes.sum())

    @cached_property
    def influence(self) -> Floats:
        """(rows, classes, classes): how each row moves D, itself and through the measurement model."""
        fitted = self.fitted
        rest = self._is[:, None, :] - self.errors[None]  # (patterns, t, s)
        own = self.shares[:, :, None] * rest / self._sizes[None, :, None]
        turned = np.mean([self._slopes(rest, *each) for each in zip(self._models, self._each, strict=True)], axis=0)
        rows = np.nan_to_num(fitted.by_row(own)) * fitted.spec.row_weights[:, None, None]
        return rows + np.einsum("ip,tsp->its", ClassCovariance(fitted).influence, turned)

    def _slopes(self, rest: Floats, theta: Floats, shares: Floats) -> Floats:
        """∂D / ∂θ of a measurement model, the assignments held: (t, s, size)."""
        likelihood = self.fitted.likelihood
        found = np.zeros((*self.errors.shape, likelihood.size))
        each = likelihood.class_scores(theta)
        mean = np.einsum("kip,ik->ip", each, shares)
        for t in range(likelihood.classes):
            moved = (each[t] - mean) * (shares[:, t] * likelihood.weights / self._sizes[t])[:, None]
            found[t] = rest[:, t].T @ moved
        found[:, :, self.fitted.edge] = 0.0
        return found

    @property
    def by_row(self) -> Integers:
        """The class each row is assigned to; the number of classes where it was left out."""
        place = self.fitted.likelihood.pattern_of_row
        return np.where(place >= 0, self.assigned[np.maximum(place, 0)], self.fitted.classes)


def _even_directions(size: int) -> Floats:
    """Steps like standard normal ones in so many dimensions, whose squares are 1 on average along every axis: turned
    axes, as often as there are enough of them. Drawn freely, a few would happen to favour some."""
    rng = np.random.default_rng(0)
    turned = [np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(-(-FEWEST_STEPS // max(size, 1)))]
    return np.sqrt(size) * np.concatenate(turned)[:MOST_STEPS]


@dataclass(frozen=True, eq=False)
class ThirdStep:
    """A fitted third step with the covariance of its parameters."""

    fitted: ClassFitted
    covariance: Floats
    proper: bool
    """Whether its log-likelihood is one: not with BCH's weights."""


@one_thread
def third_step(
    found: Classification, spec: ClassSpec, terms: Terms, outcome: Item | None, steps: Steps, errors: bool = True
) -> ThirdStep:
    """Class logits on `terms`, and an outcome given the class, by ML or BCH."""
    likelihood, own = _likelihood(found, spec, terms, outcome)
    shares = _begin(found, likelihood)
    if steps is Steps.BCH:
        return _bch(found, own, likelihood, shares, errors)
    theta, value, status = newton(likelihood, by_em(likelihood, likelihood.begun(shares), 30))
    fitted = ClassFitted(own, likelihood, theta, value, status, (value,), edges(likelihood, theta))
    if not errors:
        return ThirdStep(fitted, np.zeros((likelihood.size, likelihood.size)), True)
    posterior = likelihood.posterior(theta)
    scores = likelihood.scores(theta)
    each = likelihood.class_scores(theta)
    assigned = likelihood.cells[:, -1]
    k = found.fitted.classes
    moved = np.zeros((k, k, likelihood.size))  # ∂ Σ score / ∂D: p_t (s_t − s) / D[t, s] over rows assigned to s
    for t in range(k):
        part = (each[t] - scores) * (posterior[:, t] * likelihood.weights)[:, None]
        for s in range(k):
            moved[t, s] = part[assigned == s].sum(axis=0) / max(found.errors[t, s], 1e-12)
    moved[found.errors < 1e-9] = 0.0
    bread = ClassCovariance(fitted).bread
    return ThirdStep(fitted, _sandwich(found, fitted, bread, scores, moved), True)


def _bch(
    found: Classification, spec: ClassSpec, likelihood: ClassLikelihood, shares: Floats, errors: bool
) -> ThirdStep:
    if np.linalg.cond(found.to_invert) > 1e8:
        raise OptionError('steps="bch": some classes are never told apart, so their errors cannot be undone: use "ml"')
    inverse = np.linalg.inv(found.to_invert)
    assigned = likelihood.cells[:, -1]
    undone = inverse[assigned]  # (patterns, classes): rows' weights in each class, some below 0
    weighed = undone * likelihood.weights[:, None]
    limits = bounds_of(likelihood)  # (weights below 0 can leave a slope without an end)
    theta = np.clip(likelihood.maximised(likelihood.begun(shares), weighed, steps=100), -limits, limits)
    at_edge = edges(likelihood, theta)
    value = likelihood.value(theta)
    fitted = ClassFitted(spec, likelihood, theta, value, Status.CONVERGED, (value,), at_edge)
    if not errors:
        return ThirdStep(fitted, np.zeros((likelihood.size, likelihood.size)), False)
    free = ~at_edge
    information = likelihood.complete_information(theta, weighed)
    bread = np.zeros_like(information)
    bread[np.ix_(free, free)] = np.linalg.pinv(information[np.ix_(free, free)])
    each = likelihood.class_scores(theta)
    scores = np.einsum("kip,ik->ip", each, undone)
    sums = np.einsum("kip,ia,i->kap", each, undone, likelihood.weights)  # Σ_i D⁻¹[W_i, a] s_it, by t
    moved = -np.einsum("bt,tap->abp", inverse, sums)
    return ThirdStep(fitted, _sandwich(found, fitted, bread, scores, moved), False)


def _sandwich(found: Classification, fitted: ClassFitted, bread: Floats, scores: Floats, moved: Floats) -> Floats:
    """The spread of every row's influence: by its own score, and by what it does to the error rates."""
    rows = np.nan_to_num(fitted.by_row(scores)) * fitted.spec.row_weights[:, None]
    rows = rows + np.einsum("its,tsp->ip", found.influence, moved)
    return fitted.spec.sampling.spread(rows @ bread)


def _begin(found: Classification, likelihood: ClassLikelihood) -> Floats:
    """Posteriors of the third step's patterns before anything is fitted: P(class | assigned)."""
    joint = found.errors * (found._sizes / found._sizes.sum())[:, None]
    return (joint / np.maximum(joint.sum(axis=0), 1e-300)).T[likelihood.cells[:, -1]]


def _likelihood(
    found: Classification, spec: ClassSpec, terms: Terms, outcome: Item | None
) -> tuple[ClassLikelihood, ClassSpec]:
    k, assigned = found.fitted.classes, found.by_row
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(found.errors), -40.0)
    known = Indicator(
        "assigned class", IndicatorKind.NOMINAL, Known(logs), np.zeros((k, 1, k, 0)), assigned, (), np.zeros(0)
    )
    used = found.fitted.spec.row_weights > 0
    if outcome is not None:
        used &= ~np.isnan(outcome.values)
    items = () if outcome is None else (outcome,)
    own = ClassSpec(items, terms, spec.sampling.take(used))
    safe = np.minimum(assigned, k - 1)
    indicators = make_indicators(items, k, np.eye(k)[safe] * own.row_weights[:, None])
    return make_likelihood(k, terms.values, terms.names, (*indicators, known), own.row_weights), own
