"""The models of sequences with numbers that were tried, in a table with a name for each."""

from __future__ import annotations

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.regimes.column_roles import Roles
from leverrier.discovery.regimes.regime_attempts import Examined, Hidden, RegimeAttempt
from leverrier.discovery.regimes.regime_held_out import Parts, left_out, pair_left_out
from leverrier.discovery.time.time_findings import Tried
from leverrier.learning.slices.slice_choice import compare
from leverrier.models.regimes.terms import CLOCK
from leverrier.run.run import Run

CLASS_GROUNDS = {
    "levels": "",
    "the past": " on the past",
    "trends": " with trends of their own",
    "pasts": " with a past of their own",
}


def rival_name(seen: Examined, roles: Roles) -> str:
    """The rival in a few words."""
    terms = [term for each in seen.rival.emissions for term in each.terms]
    lags = max((term.lag for term in terms if not term.over), default=0)
    parts = [f"{lags} lag{'s' if lags > 1 else ''}"] if lags else []
    over = max((term.over for term in terms), default=0)
    if over:
        parts.append(f"means of the last {over}")
    if any(term.source in roles.inputs for term in terms):
        parts.append("inputs")
    if any(term.source == CLOCK and not term.period and not term.part for term in terms):
        parts.append("a trend")
    if any(term.part for term in terms):
        parts.append("the calendar")
    if any(term.period for term in terms):
        parts.append("a season")
    return ", ".join(parts) or "independent slices"


def all_tried(
    seen: Examined,
    sample: Sequences,
    roles: Roles,
    cut: Parts,
    chosen: RegimeAttempt | None,
    bits: tuple[Floats, Floats] | None,
    run: Run,
) -> list[Tried]:
    """Every kind of model that was tried, by what slices left out of it cost; `bits` are those of the chosen one."""
    base = left_out(seen.rival, seen.panel, cut, run)
    if base is None:
        return []
    name = rival_name(seen, roles)
    rows = [Tried(name, float(base.mean()), 0.0, 0.0, "", True)]
    for one in _best_of_each(seen):
        own = bits if one is chosen else pair_left_out(seen, one, cut, run)
        if own is None:
            continue
        judged = compare(cut.costs(own[0]), cut.costs(own[1]), sample.n_slices)
        against = name if own[0] is base or abs(float(own[0].mean() - base.mean())) < 1e-12 else "the best that stays"
        label = attempt_name(one)
        rows.append(Tried(label, float(own[1].mean()), judged.gain, judged.z, against, one is chosen, True))
    return rows


def _best_of_each(seen: Examined) -> list[RegimeAttempt]:
    best: dict[tuple[str, str], RegimeAttempt] = {}
    for one in seen.attempts:
        key = (one.kind.value, one.ground)
        if key not in best or one.worth > best[key].worth:
            best[key] = one
    return list(best.values())


def attempt_name(one: RegimeAttempt) -> str:
    """An attempt in a few words."""
    if one.kind is Hidden.LEVELS:
        return "persons' own levels"
    if one.kind is Hidden.CLASSES:
        return f"{one.states} classes of persons{CLASS_GROUNDS[one.ground]}"
    return f"hidden chain of {one.states} states{'' if one.ground == 'plain' else f' on {one.ground}'}"
