"""`discover` for sequences with numbers: roles of columns, rivals and attempts, the test, the parts left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel, panel_of
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.evidence.evidence import LEVEL, Compared, Evidence
from leverrier.discovery.regimes.column_roles import Roles, number_columns, roles_of, without_given_starts
from leverrier.discovery.regimes.free_past import against_the_past, by_ranks
from leverrier.discovery.regimes.regime_attempts import (
    ITERATIONS,
    PSEUDO,
    TOLERANCE,
    Examined,
    Hidden,
    RegimeAttempt,
    examined,
)
from leverrier.discovery.regimes.regime_held_out import Parts, pair_left_out
from leverrier.discovery.regimes.regime_support import LEAST_GAIN, came_back, driven
from leverrier.discovery.regimes.regime_table import all_tried, rival_name
from leverrier.discovery.regimes.regime_test import tested
from leverrier.discovery.time.hidden_chain import HiddenChain, column_profile
from leverrier.discovery.time.tested_slices import FOLDS, tested_slices, with_held_out
from leverrier.discovery.time.time_findings import Fold, TimeFindings
from leverrier.discovery.verdict import HiddenKind, Reason, Verdict, found, not_tested, nothing, undecided
from leverrier.errors import TableError
from leverrier.learning.regimes.regime_em import Designs, RegimeClimb, climb
from leverrier.learning.regimes.regime_search import one_state, several_states, with_duration
from leverrier.learning.slices.slice_choice import compare
from leverrier.learning.slices.slice_design import make_blocks, make_folds
from leverrier.models.regimes.moves import Stay
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.run.event import Event
from leverrier.run.one_thread import one_thread
from leverrier.run.run import UNBOUNDED, Run

LEAST_SLICES, MOST_STATES = 30, 6
DRAWS = 99
AGAIN = 30


@dataclass(frozen=True, eq=False)
class Claim:
    """One hidden variable that was tested, with its model of all slices."""

    attempt: RegimeAttempt
    evidence: Evidence
    model: RegimeModel
    posterior: Floats
    bits: tuple[Floats, Floats] | None


@one_thread
def regimes_in_time(
    sequences: Sequences,
    seed: int = 0,
    *,
    inputs: Collection[str] = (),
    max_hidden: int = 3,
    evidence: bool = True,
    draws: int = DRAWS,
    resamples: int = 0,
    level: float = LEVEL,
    run: Run = UNBOUNDED,
) -> TimeFindings:
    """Is a state that moves at work, or classes or levels of persons, or nothing?"""
    if sequences.n_slices < LEAST_SLICES:
        raise TableError(f"{sequences.n_slices} slices in all: at least {LEAST_SLICES} are needed to hold some out")
    sample = tested_slices(sequences, seed)
    numbers = number_columns(sequences)
    roles = roles_of(panel_of(sequences, numbers), inputs)
    panel = without_given_starts(panel_of(sample, numbers), roles)
    columns = sequences.table.columns
    run.tell(Event.LAGS, 0.05, "the columns by themselves, and")
    seen = examined(panel, columns, roles, seed, staying=max_hidden > 0, moving=max_hidden > 0, run=run)
    parts = make_folds(sample, FOLDS, seed)
    cut = Parts(parts, make_blocks(sample, parts))
    claims, doubted, reason = _claims(
        seen, sequences, sample, numbers, roles, cut, evidence, draws, resamples, level, seed, run
    )
    return _findings(sequences, sample, seen, roles, claims, doubted, reason, cut, evidence, run)


def _claims(
    seen: Examined,
    sequences: Sequences,
    sample: Sequences,
    numbers: set[str],
    roles: Roles,
    cut: Parts,
    asked: bool,
    draws: int,
    resamples: int,
    level: float,
    seed: int,
    run: Run,
) -> tuple[list[Claim], list[Evidence], Reason | None]:
    """What may be said to be at work; the evidence of what may not; and why nothing may."""
    claims: list[Claim] = []
    doubted: list[Evidence] = []
    whole = without_given_starts(panel_of(sequences, numbers), roles)
    small, scale = None if sample is sequences else sample.n_slices, False
    for moving in (True, False):
        gain = seen.moving if moving else seen.staying
        attempt = seen.best(Hidden.REGIME) if moving else seen.best_stay
        explained = any(claim.attempt.kind is Hidden.REGIME for claim in claims) and not seen.levels
        if attempt is None or not gain > LEAST_GAIN or (not moving and explained):
            continue
        if asked and moving and not _gains_by_ranks(seen, sequences, roles, seed, run):
            scale = True
            continue
        weighed = Evidence(float(gain), tested=False, kind=Compared.TIME, rows=small)
        if asked:
            weighed = replace(
                tested(
                    seen, sequences.table.columns, roles, moving=moving, draws=draws, level=level, seed=seed, run=run
                ),
                rows=small,
            )
        if asked and (not weighed.tested or not weighed.accepted):
            doubted.append(weighed)
            continue
        bits = pair_left_out(seen, attempt, cut, run)
        if bits is not None:
            judged = compare(cut.costs(bits[0]), cut.costs(bits[1]), sample.n_slices)
            weighed = with_held_out(weighed, judged)
            if asked:
                weighed = _against_the_past(weighed, seen, cut, bits[1], run)
        if asked and resamples and not run.spent:
            back = came_back(seen, attempt, sequences.table.columns, roles, cut, resamples, seed, run)
            weighed = weighed if back is None else replace(weighed, support=back.share, links=back.links)
        model, posterior = _settled(seen, attempt, whole, sample is sequences, seed, run)
        claims.append(Claim(attempt, weighed, model, posterior, bits))
    none = Reason.SCALE if scale else Reason.NOT_CLEARER
    return claims, doubted, none if not claims and not doubted else None


def _gains_by_ranks(seen: Examined, sequences: Sequences, roles: Roles, seed: int, run: Run) -> bool:
    """Whether a state that moves gains with numbers by their ranks as well: else it is a matter of their scale."""
    ranks = by_ranks(seen.panel)
    if ranks is None or run.spent:
        return True
    stays = seen.best_stay is not None
    return examined(ranks, sequences.table.columns, roles, seed, staying=stays, run=run).moving > 0


def _against_the_past(weighed: Evidence, seen: Examined, cut: Parts, with_it: Floats, run: Run) -> Evidence:
    """Told where a function of the past foretells as well; simulated sequences have had their word already."""
    free = against_the_past(seen.rival, seen.panel, cut, with_it, run)
    return weighed if free is None or free.advantage > 0 else replace(weighed, free=free)


def _settled(
    seen: Examined, attempt: RegimeAttempt, whole: Panel, all_there: bool, seed: int, run: Run
) -> tuple[RegimeModel, Floats]:
    """As many states as pay (BIC), their law of stay, and all of it fitted to every slice."""
    designs = Designs(seen.panel)
    best = attempt.climb
    if best is None:  # (levels are shown as groups of persons: as many as pay)
        classes = seen.best(Hidden.CLASSES)
        assert classes is not None
        assert classes.climb is not None
        best, attempt = classes.climb, classes
    base = attempt.base
    stays = attempt.kind is Hidden.CLASSES
    rng = np.random.default_rng([seed, 13])
    while base is not None and best.model.states >= 3 and best.model.states < MOST_STATES and not run.spent:
        more = several_states(
            base,
            designs,
            best.model.states + 1,
            rng=rng,
            stays=stays,
            max_iterations=ITERATIONS,
            tolerance=TOLERANCE,
            pseudo=PSEUDO,
            run=run,
        )
        if more.worth <= best.worth:
            break
        best = more
    if not stays and not run.spent:
        best = _with_stays(best, designs, run)
    if not all_there:
        best = climb(best.model, Designs(whole), max_iterations=AGAIN, tolerance=1.0, run=run)
    order = np.argsort(-best.posterior.mean(axis=0), kind="stable")
    return best.model.reordered(order), best.posterior[:, order]


def _with_stays(best: RegimeClimb, designs: Designs, run: Run) -> RegimeClimb:
    """Another law of how long states last, where it clearly pays."""
    chosen = best
    for stay in (Stay.NEGATIVE_BINOMIAL, Stay.WEIBULL):
        other = with_duration(best, designs, stay, ITERATIONS, TOLERANCE, run)
        chosen = other if other.worth > max(chosen.worth, best.worth + 3.0) else chosen
    return chosen


def _verdict(claims: list[Claim], doubted: list[Evidence], reason: Reason | None, asked: bool, run: Run) -> Verdict:
    believed = [claim for claim in claims if claim.evidence.believed]
    if asked and believed:
        few = any(claim.evidence.draws < claim.evidence.needed for claim in believed)
        return found(Reason.FEW_DRAWS if few else Reason.TESTED_IN_TIME)
    if claims and not asked:
        return not_tested(Reason.NOT_ASKED)
    if run.spent:
        return undecided(Reason.TIME)
    if claims:
        return undecided(claims[0].evidence.doubt)
    if any(each.cut or not each.tested for each in doubted):
        return undecided(Reason.TIME)
    return nothing(reason or Reason.CHANCE_IN_TIME)


def _findings(
    sequences: Sequences,
    sample: Sequences,
    seen: Examined,
    roles: Roles,
    claims: list[Claim],
    doubted: list[Evidence],
    reason: Reason | None,
    cut: Parts,
    asked: bool,
    run: Run,
) -> TimeFindings:
    whole = without_given_starts(panel_of(sequences, _numbers(seen)), roles)
    hidden, kinds, evidences = [], {}, {}
    for place, claim in enumerate(claims, 1):
        name = f"H{place}"
        hidden.append(_chain(sequences, whole, name, claim))
        kinds[name] = HiddenKind.CONTINUUM if claim.attempt.kind is Hidden.LEVELS else HiddenKind.CLASS
        evidences[name] = claim.evidence
    models = [replace(claim.model, name=f"H{place}") for place, claim in enumerate(claims, 1)]
    first = claims[0] if claims else None
    bits = first.bits if first is not None else None
    judged = None if bits is None else compare(cut.costs(bits[0]), cut.costs(bits[1]), sample.n_slices)
    rival = seen.rival
    if sample is not sequences:
        rival = one_state(rival, Designs(whole)).model
    return TimeFindings(
        hidden=tuple(hidden),
        gain=0.0 if judged is None else judged.gain,
        z=0.0 if judged is None else judged.z,
        model=models[0] if models else rival,
        beside=models[1] if len(models) > 1 else None,
        observed=rival,
        observed_name=rival_name(seen, roles),
        lags=seen.rival.lags,
        memories=(),
        table=tuple(all_tried(seen, sample, roles, cut, first and first.attempt, bits, run)),
        order=tuple(seen.rival.outcomes),
        n_slices=sequences.n_slices,
        status=run.status,
        notes=sequences.notes,
        folds=_folds(cut.fold, bits),
        accepted=bool(claims) and all(claim.evidence.accepted for claim in claims),
        tested=asked and all(claim.evidence.tested for claim in claims),
        untested=None if asked else Reason.NOT_ASKED,
        evidence=evidences,
        kinds=kinds,
        inputs=dict(roles.inputs),
        decided=_verdict(claims, doubted, reason, asked, run),
        drawn=tuple(doubted),
    )


def _numbers(seen: Examined) -> set[str]:
    return {name for name in seen.panel.values if name not in seen.panel.labels}


def _chain(sequences: Sequences, panel: Panel, name: str, claim: Claim) -> HiddenChain:
    model, own = claim.model, claim.posterior
    drives = driven(model, panel, own)
    seen = {column: column_profile(sequences, column, own) for column in drives}
    stay = claim.attempt.kind is not Hidden.REGIME
    return HiddenChain(
        name, model.states, drives, model.moves.usual, own.mean(axis=0), 1, own, seen, stays=stay, law=_law(model)
    )


def _law(model: RegimeModel) -> str:
    return "" if model.moves.stay is Stay.GEOMETRIC else model.moves.stay.value


def _folds(fold: NDArray[np.int64], bits: tuple[Floats, Floats] | None) -> tuple[Fold, ...]:
    if bits is None:
        return ()
    made = []
    for each in np.unique(fold):
        here = fold == each
        made.append(Fold(int(here.sum()), float(bits[0][here].mean()), float(bits[1][here].mean())))
    return tuple(made)
