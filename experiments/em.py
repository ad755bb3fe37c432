"""[aima 20.3] EM: the mixture of figure 20.11, the curves of 20.12, 78 against 708 parameters, the degenerate cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import leverrier as lv
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
from leverrier.learning.mixtures.fit_mixture import MixtureResult
from leverrier.report.charts.mixture_charts import climb_figure, mixture_figure
from leverrier.report.parts.page_parts import Grid

TRUE = lv.Mixture(
    np.array([0.2, 0.3, 0.5]),
    np.array([[0.20, 0.55], [0.45, 0.75], [0.65, 0.35]]),
    np.array([[[0.008, 0.004], [0.004, 0.012]], [[0.012, -0.006], [-0.006, 0.008]], [[0.020, 0.008], [0.008, 0.012]]]),
)
"""The text gives the weights of figure 20.11(a) and shows the rest."""
CANDY = (273, 93, 104, 90, 79, 100, 94, 167)
"""[aima 20.3.2] cherry before lime, red before green, a hole before none."""
FIRST = {"flavor": "cherry", "wrapper": "red", "hole": "yes"}
OTHER = {"flavor": "lime", "wrapper": "green", "hole": "no"}
AFTER_ONE = (0.6124, 0.6684, 0.6483, 0.6558, 0.3887, 0.3817, 0.3827)
"""θ, then cherry, red and hole in bag 1 and in bag 2."""
NAMES = ("θ", "θF1", "θW1", "θH1", "θF2", "θW2", "θH2")
FEW_POINTS, FRESH = 24, 20_000
MUST_LOSE = TRUE.dimension / (2 * 500)
"""Nats a point: what learning so many parameters from 500 points costs at best, on average."""


def mixture(seed: int, samples: int) -> Json:
    """Figure 20.11 and 20.12(a): several samples of 500 points; the first one's pictures."""
    lines = []
    pictures: dict[str, Any] = {}
    for sample in range(samples):
        x = TRUE.sample(500, seed=1000 * seed + sample)
        plain = lv.fit_mixture(x, 3, init="random", prior=None, accelerate=False, starts=5, seed=seed, jobs=1)
        line = TRUE.log_likelihood(x)
        lines.append(
            {
                "true": line,
                "ours": plain.log_likelihood,
                "iterations": plain.iterations,
                "lowest step": float(np.diff(plain.likelihoods).min()),
                "lost": _lost(plain, 1000 * seed + sample),
            }
        )
        if not sample:
            pictures = {
                "reconstructed": mixture_figure(plain, x, true=TRUE).to_dict(),
                "climb": climb_figure(plain, line).to_dict(),
            }
    return {"samples": lines, **pictures}


def _lost(found: MixtureResult, seed: int) -> float:
    """On fresh points, against the true model: nats a point."""
    fresh = TRUE.sample(FRESH, seed=500_000 + seed)
    return (TRUE.log_likelihood(fresh) - found.mixture.log_likelihood(fresh)) / FRESH


def candy() -> Json:
    """Figure 20.12(b): two bags of candy, from the text's start."""
    cells = [(f, w, h) for f in ("cherry", "lime") for w in ("red", "green") for h in ("yes", "no")]
    columns = {name: [cell[place] for cell in cells] for place, name in enumerate(FIRST)}
    table = lv.read_table({**columns, "n": list(CANDY)}, weights="n")
    start = _bags(0.6, 0.6, 0.4)
    first = lv.fit(start, table, initial=start, max_iterations=1, jobs=1)
    found = lv.fit(start, table, initial=start, accelerate=False, jobs=1)
    truth = _bags(0.5, 0.8, 0.3).log_likelihood(table)
    ones = [float(first.network.cpt("bag")[0])]
    ones += [float(first.network.cpt(name)[bag, 0]) for bag in (0, 1) for name in FIRST]
    return {"after one": ones, "trace": list(found.trace), "true": float(truth)}


def _bags(share: float, one: float, two: float) -> lv.Network:
    graph = lv.Graph.from_parents({"bag": (), **dict.fromkeys(FIRST, ("bag",))})
    states = {"bag": ("1", "2"), **{name: (FIRST[name], OTHER[name]) for name in FIRST}}
    below = np.array([[one, 1 - one], [two, 1 - two]])
    return lv.Network.build(graph, states, {"bag": np.array([share, 1 - share]), **dict.fromkeys(FIRST, below)})


def parameters() -> Json:
    """Figure 20.10: with the hidden node and without."""
    heart = lv.datasets.network("heart")
    return {"with": int(heart.dimension), "without": int(heart.without("HeartDisease").dimension)}


def degenerate(seed: int, samples: int) -> Json:
    """A component that shrinks on one point, two that merge, one that empties: plain EM and ours on the same points."""
    collapsed, cured, smallest = 0, 0, np.inf
    for sample in range(samples):
        x = TRUE.sample(FEW_POINTS, seed=1000 * seed + sample)
        plain = _plain_em(x, 5, np.random.default_rng([seed, sample]))
        collapsed += plain < 1e-9
        ours = lv.fit_mixture(x, 5, seed=seed, jobs=1)
        spread = float(np.linalg.eigvalsh(ours.mixture.matrices).min())
        smallest = min(smallest, spread)
        cured += bool(np.isfinite(ours.log_likelihood) and spread > 1e-9)
    x = TRUE.sample(500, seed=1000 * seed)
    same = lv.Mixture(
        np.full(3, 1 / 3), np.repeat(x.mean(axis=0)[None], 3, axis=0), np.repeat(np.cov(x.T)[None], 3, axis=0)
    )
    merged = lv.fit_mixture(x, 3, init=same, seed=seed, jobs=1)
    best = lv.fit_mixture(x, 3, seed=seed, jobs=1)
    return {
        "samples": samples,
        "collapsed plainly": collapsed,
        "sound": cured,
        "least variance": smallest,
        "merged": {
            "ours": merged.log_likelihood,
            "best": best.log_likelihood,
            "one component": lv.fit_mixture(x, 1, jobs=1).log_likelihood,
            "events": list(merged.events),
        },
    }


def _plain_em(x: np.ndarray, k: int, rng: np.random.Generator, steps: int = 500) -> float:
    """The text's two steps with nothing added, from k random points: the smallest variance that comes of them."""
    n = len(x)
    means = x[rng.choice(n, k, replace=False)]
    spreads = np.repeat(np.cov(x.T)[None] / k, k, axis=0)
    weights = np.full(k, 1 / k)
    for _ in range(steps):
        values = np.linalg.eigvalsh(spreads)
        if values.min() < 1e-12:
            return 0.0
        away = x[:, None] - means
        log = np.log(weights) - 0.5 * np.einsum("nci,cij,ncj->nc", away, np.linalg.inv(spreads), away)
        log -= 0.5 * np.log(values).sum(axis=1)
        p = np.exp(log - log.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)  # E-step
        share = p.sum(axis=0)
        if share.min() < 1e-6:
            return 0.0
        means = p.T @ x / share[:, None]  # M-step
        away = x[:, None] - means
        spreads = np.einsum("nc,nci,ncj->cij", p, away, away) / share[:, None, None]
        weights = share / n
    return float(np.linalg.eigvalsh(spreads).min())


def units(quick: bool, seed: int) -> Sequence[Unit]:
    return [
        Unit("mixture", mixture, {"seed": seed, "samples": 5 if quick else 50}, cost=3 if quick else 20),
        Unit("candy", candy, cost=1),
        Unit("parameters", parameters, cost=0.1),
        Unit("degenerate", degenerate, {"seed": seed, "samples": 10 if quick else 100}, cost=3 if quick else 25),
    ]


def show(results: Results, quick: bool) -> Shown:  # noqa: ARG001
    parts = [
        _show_parameters(results.get("parameters")),
        _show_mixture(results.get("mixture")),
        _show_candy(results.get("candy")),
        _show_degenerate(results.get("degenerate")),
    ]
    return Shown(tuple(section for section, _ in parts if section), tuple(c for _, claims in parts for c in claims))


def _show_parameters(found: Json) -> tuple[Section | None, list[Claim]]:
    claim, source = "Figure 20.10: the hidden node saves parameters", "78 with it, 708 without"
    if found is None:
        return None, [not_run(claim, source)]
    ours = f"{found['with']} with it, {found['without']} without"
    return None, [Claim(claim, source, ours, (found["with"], found["without"]) == (78, 708))]


def _show_mixture(found: Json) -> tuple[Section | None, list[Claim]]:
    names = (
        "Figure 20.11: the reconstructed mixture is virtually the original one",
        "Figure 20.12(a): the learned model slightly exceeds the true model's log-likelihood",
        "Figure 20.12(a): EM increases the log-likelihood at every iteration",
    )
    sources = ("by eye", "yes", "yes")
    if found is None:
        return None, none_run(names, sources)
    lines = found["samples"]
    count = len(lines)
    above = sum(line["ours"] > line["true"] for line in lines)
    rising = sum(line["lowest step"] >= -1e-9 for line in lines)
    lost = float(np.mean([line["lost"] for line in lines]))
    more = float(np.mean([line["ours"] - line["true"] for line in lines]))
    claims = [
        Claim(
            names[0],
            sources[0],
            f"{lost:.3f} nats a point lost on fresh points, {count} samples; learning "
            f"{TRUE.dimension} parameters from 500 points must lose about {MUST_LOSE:.3f}",
            lost < 2 * MUST_LOSE,
        ),
        Claim(names[1], sources[1], f"{above} of {count} samples, by {more:.1f} nats on average", above == count),
        Claim(names[2], sources[2], f"{rising} of {count} samples", rising == count),
    ]
    rows = tuple(
        (str(number), f"{line['true']:.1f}", f"{line['ours']:.1f}", str(line["iterations"]), f"{line['lost']:.3f}")
        for number, line in enumerate(lines[:10])
    )
    grid = Grid(
        ("sample", "true log-likelihood", "ours", "iterations", "lost a fresh point"),
        rows,
        "Plain EM steps, no prior, best of 5 random starts; the first ten samples",
    )
    figures = (
        Figure(
            "20-11", drawn(found["reconstructed"]), "Figure 20.11: the model, 500 points, the model found", wide=True
        ),
        Figure("20-12a", drawn(found["climb"]), "Figure 20.12(a): the climb, and the true model's line"),
    )
    words = ("The text gives the weights (.2, .3, .5); means and covariances are ours, to look like its picture.",)
    return Section("Figures 20.11 and 20.12(a): a mixture of Gaussians", words, (grid,), figures), claims


def _show_candy(found: Json) -> tuple[Section | None, list[Claim]]:
    names = (
        "Section 20.3.2: the parameters after one iteration",
        "Section 20.3.2: log-likelihood before and after it",
        "Figure 20.12(b): by the tenth iteration the learned model is better than the true one",
    )
    sources = (", ".join(map(str, AFTER_ONE)), "about -2044, about -2021", "yes")
    if found is None:
        return None, none_run(names, sources)
    ones, trace, true = found["after one"], found["trace"], found["true"]
    away = float(np.abs(np.array(ones) - AFTER_ONE).max())
    claims = [
        Claim(names[0], sources[0], ", ".join(f"{value:.4f}" for value in ones), away < 5e-5),
        Claim(
            names[1],
            sources[1],
            f"{trace[0]:.1f}, {trace[1]:.1f}",
            abs(trace[0] + 2044) < 1 and abs(trace[1] + 2021) < 1,
        ),
        Claim(names[2], sources[2], f"{trace[10]:.2f} against {true:.2f}", trace[10] > true),
    ]
    pairs = zip(NAMES, AFTER_ONE, ones, strict=True)
    rows = tuple((name, f"{theirs:.4f}", f"{mine:.4f}") for name, theirs, mine in pairs)
    grid = Grid(("parameter", "text", "ours"), rows, "After one iteration")
    chart = climb_figure(trace[:121], true)
    figures = (Figure("20-12b", chart, "Figure 20.12(b): the candy network, and the true model's line"),)
    return Section("Figure 20.12(b): two bags of candy", (), (grid,), figures), claims


def _show_degenerate(found: Json) -> tuple[Section | None, list[Claim]]:
    names = (
        "A component may shrink to a single point; with a prior (MAP-EM) it does not",
        "Two components may merge; restarting one of them helps",
    )
    sources = ("said, not measured", "said, not measured")
    if found is None:
        return None, none_run(names, sources)
    count, merged = found["samples"], found["merged"]
    claims = [
        Claim(
            names[0],
            sources[0],
            f"5 components on {FEW_POINTS} points: plain EM collapsed in "
            f"{found['collapsed plainly']} of {count} samples, ours in {count - found['sound']} (least variance "
            f"{found['least variance']:.1e})",
            found["sound"] == count and found["collapsed plainly"] > 0,
        ),
        Claim(
            names[1],
            sources[1],
            f"three equal components to begin with end at {merged['ours']:.2f} (one component: "
            f"{merged['one component']:.2f}; best of 5 starts: {merged['best']:.2f})",
            merged["ours"] > merged["one component"] + 10,
            "plain EM never leaves such a start",
        ),
    ]
    return Section("Degenerate cases", tuple(merged["events"])), claims


EXPERIMENT = Experiment(
    "em",
    "EM: Russell and Norvig, section 20.3",
    "The book's 500 points are not published: ours are drawn from a mixture with its weights. The candies are its own.",
    units,
    show,
)
