"""One seed, one answer: whatever the number of threads, of processes, and Python's own hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import leverrier as lv
from hardening.outcome import Outcome, Size
from hardening.runs import of_arrays, of_json, rows, signs

HASHES = (0, 1, 2)
THREADS, PROCESSES = (1, 2, 4), (1, 2, 3)


def digests(size: Size) -> Outcome:
    """Every public function with a seed, in a process for each hash seed."""
    found = Outcome("digests", "one digest for each function with a seed", len(CALLS))
    answers: dict[str, set[str]] = {name: set() for name in CALLS}
    names = list(CALLS)[: size.of(len(CALLS))]
    code = f"import json; from hardening.digests import told; print(json.dumps(told({names!r})))"
    for number in HASHES:
        environment = {**os.environ, "PYTHONHASHSEED": str(number)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            found.count(f"hash seed {number}: {done.stderr[-300:]}")
            return found
        for name, each in json.loads(done.stdout).items():
            answers[name].update(each)
        if size.spent:
            found.notes.append("the time ran out")
            break
    for name in names:
        found.count(None if len(answers[name]) == 1 else f"{name}: {len(answers[name])} digests")
    found.notes.append(f"threads {THREADS}, processes {PROCESSES}, hash seeds {HASHES}")
    return found


def told(names: list[str]) -> dict[str, list[str]]:
    """The digests of these calls, for every number of threads or processes they know."""
    return {name: sorted({CALLS[name](jobs) for jobs in _numbers(name)}) for name in names}


def _numbers(name: str) -> tuple[int, ...]:
    return PROCESSES if name in WITH_PROCESSES else THREADS if name in WITH_THREADS else (1,)


@cache
def _sequences() -> lv.Sequences:
    days = [(p, t) for p in range(12) for t in range(12)]
    rng = np.random.default_rng(5)
    hidden = np.cumsum(rng.random(len(days)) < 0.2) % 2
    cells = {name: (hidden ^ (rng.random(len(days)) < 0.2)).astype(int).tolist() for name in "xyz"}
    return lv.read_sequences({"p": [p for p, _ in days], "t": [t for _, t in days], **cells}, by="p", time="t")


@cache
def _points() -> Any:
    rng = np.random.default_rng(2)
    return np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(4, 1, (60, 2))])


def _network(network: lv.Network, *numbers: float) -> str:
    arcs = json.dumps([list(edge) for edge in network.edges])
    tables = [network.cpt(name) for name in network.variables]
    return of_arrays(np.frombuffer(arcs.encode(), np.uint8), *tables, np.array(numbers))


def _dynamic(result: Any) -> str:
    parts = (*result.network.stages, result.network.transition)
    return of_arrays(*(part[name].table() for part in parts for name in result.network.variables))


def _mixed_drawn(_: int) -> str:
    network = lv.learn_structure(dict(zip("ab", _points().T, strict=True)), families="auto").network
    return of_arrays(*network.sample(50, seed=3).numbers.values())


def _drawn(sequences: lv.Sequences) -> str:
    return of_arrays(sequences.table.codes)


def _mixture_drawn(_: int) -> str:
    mixture = lv.fit_mixture(_points(), components=2, seed=1, jobs=1).mixture
    return of_arrays(mixture.sample(50, seed=4), *mixture.sample_labelled(50, seed=5))


def _markov() -> lv.DynamicNetwork:
    return lv.hidden_markov(_sequences(), states=2, starts=3, seed=1).network


def _asia() -> lv.Table:
    return lv.datasets.network("asia").sample(400, seed=2)


def _hidden_fit(jobs: int) -> str:
    asia = lv.datasets.network("asia")
    found = lv.fit(asia, _asia().drop("either"), hidden={"either": 2}, starts=4, seed=3, jobs=jobs)
    return _network(found.network, found.log_likelihood)


def _structural(jobs: int) -> str:
    asia = lv.datasets.network("asia")
    found = lv.structural_em(asia, _asia().drop("either"), hidden={"either": 2}, seed=3, jobs=jobs)
    return _network(found.network, found.score)


def _discovered(jobs: int) -> str:
    from dataclasses import replace

    from leverrier.api.saved import dump

    found: Any = lv.discover(rows(), draws=3, resamples=3, max_hidden=1, seed=2, jobs=jobs)
    return of_json(json.loads(dump(replace(found.result, seconds=0.0))))


def _causes(jobs: int) -> str:
    found = lv.hidden_causes(signs(), sweeps=60, chains=3, seed=2, jobs=jobs)
    return of_arrays(found.shared, *found.trace.values())


def _cardinality(jobs: int) -> str:
    found: Any = lv.cardinality(lv.datasets.network("asia"), _asia().drop("either"), hidden="either", seed=1, jobs=jobs)
    return of_json([found.states, list(found.path)])


def _classes(jobs: int) -> str:
    found = lv.latent_classes(rows(), states=range(1, 4), starts=4, bootstrap=2, errors=2, seed=1, jobs=jobs)
    return _network(found.network, found.log_likelihood)


def _mixture(jobs: int) -> str:
    found = lv.fit_mixture(_points(), components=2, starts=4, seed=1, jobs=jobs)
    return of_arrays(found.mixture.weights, found.mixture.means, found.mixture.covariances)


def _mixed(_: int) -> str:
    found = lv.mixed_classes({"a": _points()[:, 0], "b": _points()[:, 1]}, [1, 2], starts=3, seed=1)
    return of_arrays(found.model.numbers.means, found.posterior)


def _structure(jobs: int) -> str:
    found = lv.learn_structure(_asia(), method="best", rounds=3, seed=1, jobs=jobs)
    return _network(found.network, found.score)


def _found(_: int) -> str:
    found = lv.find_hidden(rows(), max_hidden=1, seed=2)
    return _network(found.network, found.score)


CALLS: dict[str, Callable[[int], str]] = {
    "Network.sample": lambda _: of_arrays(_asia().codes),
    "datasets.hidden_causes": lambda _: of_arrays(signs()),
    "learn_structure": _structure,
    "fit": _hidden_fit,
    "structural_em": _structural,
    "latent_classes": _classes,
    "cardinality": _cardinality,
    "fit_mixture": _mixture,
    "mixed_classes": _mixed,
    "hidden_causes": _causes,
    "hidden_markov": lambda _: _dynamic(lv.hidden_markov(_sequences(), states=2, starts=3, seed=1)),
    "latent_transitions": lambda _: of_json(str(lv.latent_transitions(_sequences(), states=2, starts=2, seed=1))),
    "factorial_hmm": lambda _: _dynamic(lv.factorial_hmm(_sequences(), chains=2, states=2, seed=1)),
    "DynamicNetwork.sample": lambda _: _drawn(_markov().sample(40, seed=2, sequences=3)),
    "Mixture.sample": _mixture_drawn,
    "MixedNetwork.sample": _mixed_drawn,
    "learn_dynamic": lambda _: _dynamic(lv.learn_dynamic(_sequences(), lags=2, cpds="tree", seed=1)),
    "fit_dynamic": lambda _: _dynamic(lv.fit_dynamic(_markov(), _sequences(), starts=3, max_iterations=20, seed=1)),
    "find_memories": lambda _: of_json(str(lv.find_memories(_sequences(), lags=2, iterations=1, seed=1))),
    "find_in_time": lambda _: of_json(str(lv.find_in_time(_sequences(), seed=1))),
    "find_hidden": _found,
    "discover": _discovered,
}
WITH_THREADS = (
    "learn_structure",
    "fit",
    "structural_em",
    "latent_classes",
    "cardinality",
    "fit_mixture",
    "hidden_causes",
)
WITH_PROCESSES = ("discover",)
