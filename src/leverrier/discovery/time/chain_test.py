"""Could chance look like these chains? The gain of one chain on sequences drawn from the best model without any.

What is compared is light, and the same for the data and for every draw: a chain on the ground that was chosen, begun
from residuals over several windows, a few steps of EM, log-likelihood less ½ ln(slices) a parameter, over that of
the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.time.chain_building import Built
from leverrier.discovery.time.lag_models import Observed
from leverrier.discovery.time.tested_slices import tested_slices
from leverrier.learning.chains.chain_em import ChainSettings, fit_chains
from leverrier.learning.chains.chain_starts import chain_start
from leverrier.learning.slices.slice_choice import Choice, fit_slices
from leverrier.learning.slices.slice_design import make_design
from leverrier.models.slices.slice_forecast import drawn_slices
from leverrier.run.event import Event
from leverrier.run.run import Run

WINDOWS = (1, 9, 41)
STEPS = 12
FIRST_STATES = 2


@dataclass(frozen=True, eq=False)
class LightSearch:
    """What one chain gains over the trees, looked for in the same way in the data and in every draw."""

    features: tuple[Feature, ...]
    choice: Choice
    """Of the best model without chains."""
    ground: tuple[Feature, ...]
    settings: ChainSettings
    """Of what the chain stands on."""
    order: tuple[str, ...]
    states: tuple[int, ...]
    seed: int

    def gain(self, sequences: Sequences) -> float:
        design = make_design(sequences, self.features, self.order)
        alone = fit_slices(design, self.choice)
        worth = alone.log_likelihood(sequences) - 0.5 * np.log(sequences.n_slices) * alone.dimension
        ground = design if self.ground == self.features else make_design(sequences, self.ground, self.order)
        every = np.ones(sequences.n_slices)
        best = -np.inf
        for expected in (None, partial(alone.predict, sequences)):
            for window in WINDOWS:
                for states in self.states:
                    start = chain_start(sequences, expected, window, states, every, self.seed)
                    if start is not None:
                        ended = fit_chains(ground, {"H1": states}, start, self.settings)
                        best = max(best, ended.worth(sequences.n_slices))
        return float(best - worth)


def chain_evidence(
    observed: Observed, built: Built, sequences: Sequences, order: Sequence[str], draws: int, level: float, run: Run
) -> Evidence:
    """The chains' evidence: their light gain beside that of sequences without them."""
    sample = tested_slices(sequences, built.ground.plan.seed)
    search = LightSearch(
        observed.best.ask.features,
        observed.best.choice,
        built.ground.ask.features,
        replace(built.ground.settings, max_iterations=STEPS),
        tuple(built.ground.ask.order or order),
        tuple(sorted({FIRST_STATES, built.links[0].states})),
        built.ground.plan.seed,
    )
    gain = run.once(("light gain",), lambda: search.gain(sample), float, float, lambda: -np.inf)
    rng = np.random.default_rng([search.seed, 17])
    drawn = run.made(
        ("null sequences",), lambda: drawn_slices(observed.model, sample, draws, rng, tuple(order)) if draws else []
    )
    seeds = np.random.SeedSequence([search.seed, 19]).spawn(draws)
    keys = [("chain draw", place) for place in range(draws)]
    evidence = drawn_evidence(
        gain, partial(_drawn, search, drawn, run.silent()), seeds, keys, level, run, Event.NULL_TABLES, Compared.TIME
    )
    return replace(evidence, rows=None if sample is sequences else sample.n_slices)


def _drawn(search: LightSearch, drawn: Sequence[Sequences], run: Run, stream: np.random.SeedSequence) -> float:
    if run.late:
        return float("nan")
    return search.gain(drawn[stream.spawn_key[-1]])  # (drawn all at once, which is far quicker: a stream is its place)
