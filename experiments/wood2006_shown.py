"""[wood2006] all figures: how many hidden causes, their structure, and the signs of stroke patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import leverrier as lv
from experiments.accuracy import ErrorPath
from experiments.charts import curves
from experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Json,
    Results,
    Section,
    Shown,
    Unit,
    drawn,
    none_run,
    not_run,
)
from experiments.truth_charts import plot_errors
from experiments.wood2006 import (
    CLAIMS,
    SAMPLERS,
    STARTS,
    STRUCTURES,
    figure3_curves,
    figure3_line,
    figure3_verdicts,
    figure4_curves,
    figure4_line,
    figure4_verdicts,
)
from experiments.wood2006_stroke import NAMES, TRUTH, posterior_line, simulated_patients, stroke_verdicts
from leverrier.noisy_or.sampler_state import Method
from leverrier.report.parts.page_parts import Grid

STROKE = ("medical/ist_stroke_signs.csv.gz",)
SWEEPS = 500
"""[wood2006 section 5]."""
RECOVERED = 0.5
"""Links: a structure is recovered when both errors are below half a link on average."""
Part = tuple[list[Section], list[Claim]]


def figure_3(n_causes: int, method: Method, sampler: str, start: int, seeds: int, sweeps: int) -> Json:
    """One point of figure 3: several data sets."""
    return [figure3_line(n_causes, seed, start, method, sampler, sweeps=sweeps) for seed in range(seeds)]  # type: ignore[arg-type]


def figure_4(structure: str, method: Method, sampler: str, seeds: int, sweeps: int) -> Json:
    """One curve of figure 4: several data sets."""
    return [figure4_line(structure, seed, method, sampler, sweeps=sweeps) for seed in range(seeds)]  # type: ignore[arg-type]


def simulated_stroke(sweeps: int, seed: int) -> Json:
    """Figures 5 and 6 on simulated patients."""
    patients, _ = simulated_patients(seed)
    return _plain(posterior_line(patients, sweeps, seed=seed))


def real_stroke(sweeps: int, rows: int, seed: int, data: Path) -> Json:
    """Figures 5 and 6 on patients of the International Stroke Trial."""
    table = lv.read_table(data / STROKE[0]).drop("syndrome")
    chosen = np.sort(np.random.default_rng([seed, 59]).choice(table.n_rows, rows, replace=False))
    return _plain({**posterior_line(table.take(chosen), sweeps, seed=seed), "rows": rows})


def _plain(value: Json) -> Json:
    """Without numbers that are none: JSON has no word for them."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def units(quick: bool, seed: int) -> Sequence[Unit]:
    sizes, sets = ((2, 5, 8), 2) if quick else ((1, 2, 4, 6, 8, 10), 10)
    found = [
        Unit(
            f"figure 3 K={k} {method} {sampler} from {start}",
            figure_3,
            {"n_causes": k, "method": method, "sampler": sampler, "start": start, "seeds": sets, "sweeps": SWEEPS},
            cost=1.5 * sets,
        )
        for k in sizes
        for method, sampler in SAMPLERS
        for start in STARTS
    ]
    found += [
        Unit(
            f"figure 4 {structure} {method} {sampler}",
            figure_4,
            {"structure": structure, "method": method, "sampler": sampler, "seeds": max(sets, 3), "sweeps": SWEEPS},
            cost=sets,
        )
        for structure in STRUCTURES
        for method, sampler in SAMPLERS
    ]
    long = 2000 if quick else 20_000
    found.append(Unit("figures 5 and 6 simulated", simulated_stroke, {"sweeps": long, "seed": seed}, cost=long / 250))
    trial = {"sweeps": long // 2, "rows": 300 if quick else 1000, "seed": seed}
    found.append(Unit("figures 5 and 6 IST", real_stroke, trial, STROKE, cost=long / 250))
    return found


def show(results: Results, quick: bool) -> Shown:  # noqa: ARG001
    three = [line for key, lines in results.items() if key.startswith("figure 3") for line in lines]
    four = [line for key, lines in results.items() if key.startswith("figure 4") for line in lines]
    parts = [_figure_3(three), _figure_4(four), _stroke(results)]
    return Shown(tuple(s for sections, _ in parts for s in sections), tuple(c for _, own in parts for c in own))


def _way(line: Mapping[str, Json]) -> str:
    moves = "the source's moves" if line["sampler"] == "wood2006" else "our moves"
    return f"{line['method']}, {moves}"


def _figure_3(lines: Sequence[Mapping[str, Json]]) -> Part:
    if not lines:
        return [], [not_run(f"Figure 3: {CLAIMS[key]}", "by picture") for key in ("3 gibbs", "3 rjmcmc")]
    claims = [
        Claim(
            f"Figure 3, {_way(v)}, from {v['start'] or 'no'} causes: {v['claim']}",
            "by picture",
            f"farthest mean {v['farthest']:+.2f} from the truth (at K = {v['at']})",
            bool(v["holds"]),
            _why_3(v),
        )
        for v in figure3_verdicts(lines)
    ]
    means = figure3_curves(lines)
    ways = list(dict.fromkeys(f"{_way(c)}, from {c['start']}" for c in means))
    sizes = sorted({c["causes"] for c in means})
    by = {(f"{_way(c)}, from {c['start']}", c["causes"]): f"{c['mean']:.2f} ± {c['sd']:.2f}" for c in means}
    rows = tuple((way, *(by.get((way, k), "–") for k in sizes)) for way in ways)
    grid = Grid(
        ("sampler", *(f"K = {k}" for k in sizes)), rows, f"Mean number of causes over {means[0]['data_sets']} data sets"
    )
    figures = []
    for sampler, words in (("wood2006", "the source's moves"), ("default", "our moves")):
        own = [c for c in means if c["sampler"] == sampler]
        kinds = list(dict.fromkeys(f"{c['method']}, from {c['start']}" for c in own))
        points = [(c["causes"], f"{c['method']}, from {c['start']}", c["mean"]) for c in own]
        chart = curves(points, "true number of causes", "causes found", kinds, truth=True)
        figures.append(Figure(f"figure-3-{sampler}", chart, f"Figure 3, {words}"))
    return [Section("Figure 3: how many causes", (), (grid,), tuple(figures))], claims


def _why_3(verdict: Mapping[str, Json]) -> str:
    if verdict["holds"]:
        return ""
    source = verdict["sampler"] == "wood2006"
    return "with the source's moves chains had not mixed after 500 sweeps" if source else "some chains had not mixed"


def _figure_4(lines: Sequence[Mapping[str, Json]]) -> Part:
    names = (
        "Figure 4: Gibbs recovers all four structures",
        "Figure 4: RJMCMC with the source's moves performs poorly",
        "Figure 4: with our moves no structure is recovered worse than with the source's",
    )
    sources = ("close in all; the over-complete one badly", "for all but the most iterations", "–")
    if not lines:
        return [], none_run(names, sources)
    means = figure4_curves(lines)
    ends = {(c["structure"], c["method"], c["sampler"]): (c["in_degree"][-1], c["structure_error"][-1]) for c in means}
    ours = {s: ends[s, "gibbs", "default"] for s in STRUCTURES if (s, "gibbs", "default") in ends}
    theirs = {s: ends[s, "gibbs", "wood2006"] for s in STRUCTURES if (s, "gibbs", "wood2006") in ends}
    poor = {s: ends[s, "rjmcmc", "wood2006"] for s in STRUCTURES if (s, "rjmcmc", "wood2006") in ends}
    missed = [s for s, errors in ours.items() if max(errors) >= RECOVERED]
    verdicts = figure4_verdicts(lines)
    worse = [f"{v['structure']} ({v['method']})" for v in verdicts if not v["holds"]]
    claims = [
        Claim(
            names[0],
            sources[0],
            f"our moves: {_errors(ours)}; the source's: {_errors(theirs)}",
            not missed if len(ours) == len(STRUCTURES) else None,
            f"{', '.join(missed)}: causes that reach the same signs cannot be told apart" if missed else "",
        ),
        Claim(names[1], sources[1], _errors(poor), all(max(poor[s]) > max(theirs[s]) for s in poor if s in theirs)),
        Claim(names[2], sources[2], f"{len(verdicts) - len(worse)} of {len(verdicts)}", not worse, ", ".join(worse)),
    ]
    rows = tuple(
        (c["structure"], _way(c), f"{c['in_degree'][-1]:.2f}", f"{c['structure_error'][-1]:.2f}", f"{c['seconds']:.2f}")
        for c in means
    )
    grid = Grid(
        ("structure", "sampler", "in-degree error", "structure error", "seconds"),
        rows,
        f"After {means[0]['sweeps'][-1]} sweeps from no links",
        words=(0, 1),
    )
    figures = tuple(
        Figure(f"figure-4-{name.replace(' ', '-')}", plot_errors(_paths(lines, name)), f"Figure 4: {name}", wide=True)
        for name in STRUCTURES
        if any(line["structure"] == name for line in lines)
    )
    return [Section("Figure 4: four structures", (), (grid,), figures)], claims


def _errors(found: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {a:.2f}/{b:.2f}" for name, (a, b) in found.items()) + " (in-degree/structure error)"


def _paths(lines: Sequence[Mapping[str, Json]], structure: str) -> dict[str, list[ErrorPath]]:
    paths: dict[str, list[ErrorPath]] = {}
    for line in lines:
        if line["structure"] == structure:
            path = ErrorPath(np.array(line["sweeps"]), np.array(line["in_degree"]), np.array(line["structure_error"]))
            paths.setdefault(_way(line), []).append(path)
    return paths


def _stroke(results: Results) -> Part:
    simulated, real = results.get("figures 5 and 6 simulated"), results.get("figures 5 and 6 IST")
    found = {name: each for name, each in (("simulated", simulated), ("IST", real)) if each}
    if not found:
        return [], [not_run("Figures 5 and 6: the causes of stroke signs", "by picture")]
    claims = []
    if simulated:
        claims = [
            Claim(f"Figure {v['figure']}: {v['claim']}", _truth(v["figure"]), _listed(v["ours"]), v["holds"])
            for v in stroke_verdicts(simulated)
        ]
    rows = tuple((name, *(_interval(each[number]) for number in NAMES)) for name, each in found.items())
    grid = Grid(("patients", "ε", "λ", "p", "α", "K₊"), rows, "Posterior mean and 90 % interval", words=tuple(range(6)))
    best = [_structure(name, each["structure"]) for name, each in found.items()]
    figures = tuple(
        Figure(f"{key}-{name}", drawn(each[f"{key} chart"]), f"{words}: {name} patients", wide=True)
        for name, each in found.items()
        for key, words in (("traces", "Figure 5"), ("structure", "Figure 6"))
    )
    words = (
        "The source's 50 patients are not public. Simulated: 50 patients with 42 signs and 14 localisations, as "
        "many of each a patient as the source's. IST: the International Stroke Trial, 12 signs and findings.",
    )
    return [Section("Figures 5 and 6: stroke patients", words, (grid, *best), figures)], claims


def _structure(name: str, causes: Sequence[Sequence[Json]]) -> Grid:
    rows = tuple((str(k + 1), ", ".join(map(str, signs))) for k, signs in enumerate(causes))
    return Grid(("cause", "signs"), rows, f"Best structure: {name} patients", words=(0, 1))


def _interval(number: Mapping[str, Json]) -> str:
    low, high = number["interval"]
    return f"{number['mean']:.3f} ({low:.3f} – {high:.3f})"


def _truth(figure: str) -> str:
    return f"by picture; truth p {TRUTH['p']}, K {TRUTH['causes']}" if figure == "5" else "by picture"


def _listed(value: Json) -> str:
    return ", ".join(f"{each:.3f}" for each in value) if isinstance(value, list) else f"{value:.3f}"


EXPERIMENT = Experiment(
    "wood2006",
    "Hidden causes: Wood, Griffiths and Ghahramani 2006",
    "Figures 3 and 4 are simulated as in the source (500 trials, ε .01, λ .9, p .1, α 3; 20 signs for figure 3). The "
    "stroke patients are not public: simulated ones and the International Stroke Trial stand for them.",
    units,
    show,
)
