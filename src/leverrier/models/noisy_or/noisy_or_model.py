"""Overlapping hidden causes behind yes/no signs: the noisy-OR model as a frozen value [wood2006 section 3]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.errors import OptionError, TableError
from leverrier.kernels.noisy_or.dense_moves import sweep_active_dense
from leverrier.models.noisy_or.causes_patterns import MOST_SIGNS, log_chances, pattern_chances
from leverrier.models.noisy_or.causes_prior import BetaBernoulli, IndianBuffet, Links
from leverrier.models.noisy_or.causes_rows import infer_row

HOLE = 2
"""A cell that was not seen. Cells are 0, 1 or this."""


def read_cells(x: ArrayLike) -> NDArray[np.uint8]:
    """Cells 0, 1 and HOLE from an array of 0/1 with None, NaN or masked entries where nothing was seen."""
    masked = np.ma.getmaskarray(x) if isinstance(x, np.ma.MaskedArray) else None
    values = np.asarray(np.ma.getdata(x) if masked is not None else x)
    if values.ndim != 2:
        raise TableError(f"signs have shape {values.shape}: two axes are expected, (trials, observed)")
    if values.dtype == object:
        try:
            values = np.where(values == None, np.nan, values).astype(np.float64)  # noqa: E711  (by element)
        except (TypeError, ValueError):
            bad = next(v for v in values.ravel() if not isinstance(v, int | float | bool | np.generic | None))
            raise TableError(f"signs hold {bad!r}: 0, 1 or missing are expected") from None
    holes = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if masked is not None:
        holes |= masked
    if values.dtype.kind not in "bifu":
        raise TableError(f"signs of type {values.dtype} cannot be used: 0, 1 or missing are expected")
    wrong = ~holes & (values != 0) & (values != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise TableError(f"row {row}, column {column} holds {values[row, column]}: 0, 1 or missing are expected")
    return np.where(holes, HOLE, np.where(holes, 0, values)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """Which cause reaches which sign, how surely, how often each cause is active, and how often a sign comes by itself.

    P(x_i = 1) = 1 − (1 − ε) Π_k (1 − λ_k)^(links[i, k] · y_k), y_k ~ Bernoulli(p_k) [wood2006 eqs. 3, 4].
    """

    links: Links
    """(observed, causes), 0/1."""
    epsilon: float
    lam: NDArray[np.float64]
    """λ by cause; one number is spread over all."""
    p: NDArray[np.float64]
    """How often each cause is active; one number is spread over all."""
    names: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        links = np.array(self.links, dtype=np.uint8)
        if links.ndim != 2 or not np.isin(links, (0, 1)).all():
            raise OptionError(f"links of shape {links.shape}: a 0/1 array (observed, causes) is expected")
        values: dict[str, NDArray[Any]] = {"links": links}
        for name in ("lam", "p"):
            value = np.asarray(getattr(self, name), np.float64)
            if value.ndim and value.shape != (links.shape[1],):
                raise OptionError(f"{name} has {value.size} values for {links.shape[1]} causes: one, or one each")
            values[name] = np.array(np.broadcast_to(value, (links.shape[1],)))
        for name, value in (("epsilon", self.epsilon), ("lam", values["lam"]), ("p", values["p"])):
            if not np.all((np.asarray(value) > 0) & (np.asarray(value) < 1)):
                raise OptionError(f"{name}={value}: strictly between 0 and 1 is expected")
        names = tuple(self.names) or tuple(f"x{i}" for i in range(len(links)))
        if len(names) != len(links):
            raise OptionError(f"{len(names)} names for {len(links)} observed variables: one each is needed")
        for name, value in values.items():
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "names", names)

    @property
    def n_observed(self) -> int:
        return len(self.links)

    @property
    def n_causes(self) -> int:
        return self.links.shape[1]

    def chance(self, active: NDArray[np.integer]) -> NDArray[np.float64]:
        """P(x = 1), (trials, observed), given which causes are active, (trials, causes)."""
        return 1 - (1 - self.epsilon) * np.exp((active * np.log1p(-self.lam)) @ self.links.T)  # [wood2006 eq. 3]

    def sample(self, n_trials: int, seed: int | np.random.Generator = 0) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Trials with the causes behind them: x (trials, observed) and active (trials, causes)."""
        rng = np.random.default_rng(seed)
        active = (rng.random((n_trials, self.n_causes)) < self.p).astype(np.uint8)
        x = (rng.random((n_trials, self.n_observed)) < self.chance(active)).astype(np.uint8)
        return x, active

    def log_joint(
        self, x: ArrayLike, active: NDArray[np.integer], prior: IndianBuffet | BetaBernoulli | None = None
    ) -> float:
        """log P(X | Z, Y) + log P(Y), and + log P(Z) when a prior of the links is given [wood2006 eq. 2]."""
        cells, chance = self._cells(x), self.chance(active)
        total = np.log(chance[cells == 1]).sum() + np.log1p(-chance[cells == 0]).sum()
        total += (active * np.log(self.p) + (1 - active) * np.log1p(-self.p)).sum()
        return float(total if prior is None else total + prior.log_probability(self.links))

    def row_log_likelihoods(self, x: ArrayLike) -> NDArray[np.float64]:
        """log P(row) for every row, causes and holes summed out."""
        cells = self._cells(x)
        if self.n_observed <= MOST_SIGNS:
            logs = log_chances(pattern_chances(self.links, self.epsilon, self.lam, self.p), cells, HOLE)
            if np.isfinite(logs).all():
                return logs
        return self._infer(cells)[0]

    def log_likelihood(self, x: ArrayLike) -> float:
        """log P(x), all rows together, causes and holes summed out."""
        return float(self.row_log_likelihoods(x).sum())

    def posterior(self, x: ArrayLike, *, exact: bool = True, sweeps: int = 2000, seed: int = 0) -> NDArray[np.float64]:
        """P(cause active | row), (rows, causes), rows as they came. `exact=False` samples, for very many causes."""
        cells = self._cells(x)
        return self._infer(cells)[1] if exact else self._sampled(cells, sweeps, np.random.default_rng(seed))

    def _cells(self, x: ArrayLike) -> NDArray[np.uint8]:
        cells = read_cells(x)
        if cells.shape[1] != self.n_observed:
            names = ", ".join(self.names[:8]) + (" …" if self.n_observed > 8 else "")
            raise TableError(f"rows have {cells.shape[1]} signs; this model has {self.n_observed}: {names}")
        return cells

    def _infer(self, cells: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        distinct, where = np.unique(cells, axis=0, return_inverse=True)
        links, log_fail = self.links.astype(bool), np.log1p(-self.lam)
        totals = np.empty(len(distinct))
        posterior = np.empty((len(distinct), self.n_causes))
        for r, row in enumerate(distinct):
            totals[r], posterior[r] = infer_row(row, links, self.epsilon, log_fail, self.p)
        return totals[where.ravel()], posterior[where.ravel()]

    def _sampled(self, cells: NDArray[np.uint8], sweeps: int, rng: np.random.Generator) -> NDArray[np.float64]:
        n_rows = len(cells)
        turned = np.ascontiguousarray(cells.T)
        active = np.zeros((self.n_causes, -(-n_rows // 64)), np.uint64)
        links = np.ascontiguousarray(self.links.T)
        total = np.zeros((self.n_causes, n_rows))
        scratch = np.empty(self.n_observed)
        stream = rng.integers(0, 2**64, 4, dtype=np.uint64)
        warmup = sweeps // 5
        with np.errstate(over="ignore"):
            for sweep in range(warmup + sweeps):
                sweep_active_dense(turned, links, active, self.p, 1 - self.lam, self.epsilon, scratch, stream)
                if sweep >= warmup:
                    total += np.unpackbits(active.view(np.uint8), axis=1, count=n_rows, bitorder="little")
        return (total / sweeps).T


class Truth(NamedTuple):
    """What made a simulated table."""

    links: Links
    active: NDArray[np.uint8]
    model: HiddenCauses


def hidden_causes(
    n_observed: int = 6,
    n_causes: int = 4,
    n_trials: int = 500,
    seed: int | np.random.Generator = 0,
    *,
    links: ArrayLike | None = None,
    epsilon: float = 0.01,
    lam: float = 0.9,
    p: float = 0.1,
    distinct: bool = True,
) -> tuple[NDArray[np.uint8], Truth]:
    """Simulated signs, (trials, observed), with the truth behind them [wood2006 section 5].

    The links come from the Indian buffet given the number of causes, unless they are given. Two causes with
    the same links are redrawn, for no data could tell them apart; `distinct=False` keeps them.
    """
    rng = np.random.default_rng(seed)
    if links is None:
        if n_observed < 1 or n_causes < 0 or n_trials < 0:
            raise OptionError(f"n_observed={n_observed}, n_causes={n_causes}, n_trials={n_trials}: no such table")
        if distinct and n_causes > 2 ** min(n_observed, 60) - 1:
            raise OptionError(f"{n_observed} signs allow {2**n_observed - 1} different causes, not {n_causes}")
        links = IndianBuffet().sample_given(n_observed, n_causes, rng)
        while distinct and len(kept := np.unique(links, axis=1, return_index=True)[1]) < n_causes:
            fresh = IndianBuffet().sample_given(n_observed, n_causes - len(kept), rng)
            links = np.concatenate([links[:, np.sort(kept)], fresh], axis=1)
    model = HiddenCauses(np.asarray(links, np.uint8), epsilon, np.asarray(lam), np.asarray(p))
    x, active = model.sample(n_trials, rng)
    return x, Truth(model.links, active, model)
