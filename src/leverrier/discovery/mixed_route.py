"""One hidden class behind columns of numbers and categories as they are, not cut into bins."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.done import ClassesFitted
from leverrier.discovery.evidence.drawn_evidence import drawn_evidence
from leverrier.discovery.evidence.evidence import Evidence, Stopped, weighed
from leverrier.discovery.examine import Tests, shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.hidden_model import ClassModel
from leverrier.discovery.meaning import Mark, State
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind, Reason, nothing
from leverrier.learning.classes.mixed_classes import MixedClassResult, gaussian_columns, mixed_classes
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

FIRST_STATES, MOST_STATES = 4, 8
STARTS = 4


def examine_classes(table: Table, score: Score, plan: Plan, tests: Tests, run: Run = UNBOUNDED) -> Result:
    """Is there a hidden class behind these columns? The gain over one class, tested on tables that have one."""
    begun = time.monotonic()
    run.tell(Event.MIXED_CLASSES, 0.0)
    numbers = gaussian_columns(table)
    found = _fit(table, numbers, plan.seed)
    single = mixed_classes(table, 1, numbers=numbers, starts=1, seed=plan.seed)
    plain = learn_structure(table, score, jobs=1, holes="available")
    evidence = _null_test(found, single.model, numbers, round(table.total), plan, tests, run)
    name = free_name("H1", table.variables)
    variable = HiddenVariable(
        name, found.states, tuple(table.variables), (), found.gain, "all columns", "classes", evidence
    )
    accepted = found.states > 1 and evidence.accepted
    verdict = weighed([evidence], not tests.none) if accepted else nothing(_why_not(found, evidence))
    rejected = (variable,) if found.states > 1 and not accepted else ()
    return Result(
        verdict=verdict.unfinished() if evidence.stopped is Stopped.BUDGET else verdict,
        kind=ModelKind.CLASSES,
        hidden=(variable,) if accepted else (),
        compressors=rejected,
        network=plain.network,
        baseline=plain.network,
        score=found.gain,
        baseline_score=0.0,
        spread=0.0,
        repaired=0.0,
        shape=shape_of(table),
        meanings={name: _meaning(found, table)} if accepted else {},
        did=(ClassesFitted(),),
        other=ClassModel(found.model, name, table.columns) if accepted else None,
        seconds=time.monotonic() - begun,
    )


def _why_not(found: MixedClassResult, evidence: Evidence) -> Reason:
    if found.states == 1:
        return Reason.NO_GAIN
    return Reason.COMPRESSOR if evidence.tested else Reason.SMALL_GAIN


def _fit(source: Any, numbers: list[str], seed: int) -> MixedClassResult:
    """Up to four states, and more as long as the most is the best."""
    most = FIRST_STATES
    found = mixed_classes(source, range(1, most + 1), numbers=numbers, starts=STARTS, seed=seed)
    while found.states == most < MOST_STATES:
        most += 2
        found = mixed_classes(source, range(1, most + 1), numbers=numbers, starts=STARTS, seed=seed)
    return found


def _null_test(
    found: MixedClassResult, single: MixedClasses, numbers: list[str], rows: int, plan: Plan, tests: Tests, run: Run
) -> Evidence:
    """The gain in tables simulated from the best model with one class."""
    if found.states == 1 or not tests.draws:
        return Evidence(found.gain)
    seeds = np.random.SeedSequence([plan.seed, 31]).spawn(tests.draws)
    keys = [("one class", *seed.spawn_key) for seed in seeds]
    draw = partial(_null_gain, single, numbers, rows)
    return drawn_evidence(found.gain, draw, seeds, keys, tests.level, run, Event.ONE_CLASS_TABLES)


def _null_gain(single: MixedClasses, numbers: list[str], rows: int, seed: np.random.SeedSequence) -> float:
    return _fit(single.sample(rows, np.random.default_rng(seed)), numbers, 0).gain


def _meaning(found: MixedClassResult, table: Table) -> tuple[State, ...]:
    """Each class by its share and the columns in which it differs most from the others."""
    profiles = found.profiles
    spread = _spread(found)
    return tuple(_state(k, each, profiles, spread, table) for k, each in enumerate(profiles))


def _spread(found: MixedClassResult) -> Mapping[str, tuple[float, float]]:
    """Mean and deviation of each number over all rows, from the classes."""
    mixture = found.model.numbers
    mean = mixture.weights @ mixture.means
    inner = np.einsum("c,cjj->j", mixture.weights, mixture.matrices)
    outer = mixture.weights @ (mixture.means - mean) ** 2
    return {name: (float(mean[j]), float(np.sqrt(inner[j] + outer[j]))) for j, name in enumerate(mixture.names)}


def _state(
    k: int,
    profile: Mapping[str, Any],
    profiles: list[dict[str, Any]],
    spread: Mapping[str, tuple[float, float]],
    table: Table,
) -> State:
    marks: list[tuple[float, Mark]] = []
    for column, value in profile.items():
        if column == "share":
            continue
        if column in spread:
            mean, deviation = spread[column]
            lift = (value[0] - mean) / deviation if deviation else 0.0
            label = f"about {value[0]:.4g} (all rows {mean:.4g})"
            marks.append((abs(lift), Mark(column, label, number=True)))
        else:
            overall = {state: sum(p["share"] * p[column][state] for p in profiles) for state in value}
            best = max(value, key=lambda state: value[state] - overall[state])
            marks.append((2 * (value[best] - overall[best]), Mark(column, best, value[best], overall[best])))
    marks.sort(key=lambda pair: -pair[0])
    chosen = tuple(mark for lift, mark in marks[:4] if lift > 0.1)
    shares = {c: v for c, v in profile.items() if c != "share" and c not in spread and c in table.variables}
    name = ", ".join(f"{mark.column} {mark.value}" for mark in chosen[:2]) or f"state {k}"
    return State(k, float(profile["share"]), chosen, shares, name)
