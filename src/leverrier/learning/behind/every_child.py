"""The steps of EM for all children of a hidden variable together: numbers in one kernel, states one by one."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_climbs import spread_cells
from leverrier.kernels.mixed.place_steps import number_steps
from leverrier.learning.behind.child_fits import FLOOR, FLOOR_ROWS, log_prior
from leverrier.learning.behind.state_children import fit_states, like_rows
from leverrier.models.behind.block import Block
from leverrier.models.behind.child_density import LOG_2_PI
from leverrier.models.behind.links import Fit, Latent, Link, Mode, NumberFit, terms_of

_FLOOR = np.array([FLOOR_ROWS, FLOOR])


class EveryChild:
    """What links need of the rows, laid out once; each call is an M-step and the densities that follow from it."""

    def __init__(
        self, block: Block, places: int, links: tuple[Link, ...], before: tuple[Fit, ...] | None = None
    ) -> None:
        self.block, self.links = block, links
        self.numbers = [c for c, link in enumerate(links) if link.mode.of_number]
        faces = [block.columns[links[c].column].faces[links[c].face] for c in self.numbers]
        owns = [
            np.concatenate([[0], terms_of(block, links[c]), [face.at]])
            for c, face in zip(self.numbers, faces, strict=True)
        ]
        self.sizes = np.array([len(own) for own in owns], dtype=np.int64)
        widest = int(self.sizes.max(initial=2))
        self.owns = np.zeros((len(owns), widest), dtype=np.int64)
        for row, own in zip(self.owns, owns, strict=True):
            row[: len(own)] = own
        self.by_place = np.array([links[c].mode is Mode.ALL for c in self.numbers], dtype=np.bool_)
        self.constants = np.zeros((len(owns), places))
        self.slopes = np.zeros((len(owns), places, max(widest - 2, 1)))
        self.variances = np.ones((len(owns), places))
        self.slope_total = sum(face.total for face in faces) - 0.5 * LOG_2_PI * block.rows * len(owns)
        """What every place has alike: log g′(z), and the Gaussians' constants."""
        self.others: dict[int, Fit] = {c: before[c] for c in range(len(links)) if before and c not in self.numbers}

    def step(self, latent: Latent, posterior: Floats) -> Floats:
        """Fitted to P(place | row) (places, rows); gives log P(place, row) less what every place has alike."""
        with np.errstate(divide="ignore"):
            logs = np.repeat(np.log(latent.shares)[:, None], self.block.rows, axis=1)
        if self.numbers:
            number_steps(
                self.block.across,
                self.owns,
                self.sizes,
                self.by_place,
                self.block.gram,
                latent.basis,
                posterior,
                _FLOOR,
                self.constants,
                self.slopes,
                self.variances,
                logs,
            )
        for c, link in enumerate(self.links):
            if link.mode in (Mode.TABLE, Mode.LOGIT):
                found = fit_states(self.block, latent, link, posterior, self.others.get(c))
                self.others[c] = found.fit
                spread_cells(like_rows(self.block, link).of_row, found.by_cell, logs)
        return logs

    def prior(self) -> float:
        """What EM maximises beside the likelihood."""
        each = np.where(
            self.by_place,
            (np.log(self.variances) + FLOOR / self.variances).sum(axis=1),
            np.log(self.variances[:, 0]) + FLOOR / self.variances[:, 0],
        )
        return float(-(FLOOR_ROWS / 2) * each.sum()) + sum(log_prior(fit, False) for fit in self.others.values())

    def fits(self) -> tuple[Fit, ...]:
        """As values, in the order of the links."""
        place = {c: k for k, c in enumerate(self.numbers)}
        return tuple(self._number(place[c]) if c in place else self.others[c] for c in range(len(self.links)))

    def _number(self, k: int) -> NumberFit:
        own = self.owns[k, 1 : self.sizes[k] - 1].astype(np.intp)
        slopes = self.slopes[k, :, : len(own)] if self.by_place[k] else self.slopes[k, 0, : len(own)]
        return NumberFit(own, self.constants[k].copy(), slopes.copy(), self.variances[k].copy())
