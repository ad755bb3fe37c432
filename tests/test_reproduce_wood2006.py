"""The experiments of part D's source at toy sizes: the lines hold what the verdicts read, and the verdicts can fail."""

import numpy as np
import pytest

from experiments.wood2006 import (
    STRUCTURES,
    figure3_curves,
    figure3_line,
    figure3_verdicts,
    figure4_curves,
    figure4_line,
    figure4_verdicts,
)
from experiments.wood2006_stroke import TRUTH, posterior_line, simulated_patients, stroke_verdicts


def counted(method, sampler, start, causes, count):
    return {"method": method, "sampler": sampler, "start": start, "causes": causes, "count": count}


def test_one_line_of_figure_3_counts_the_causes():
    line = figure3_line(2, 0, 10, n_observed=8, n_trials=200, sweeps=60)
    assert line["count"] == pytest.approx(2, abs=0.5)
    assert line["count_all_sweeps"] > 0


def test_curves_are_means_over_data_sets():
    lines = [counted("gibbs", "default", 0, 3, count) for count in (2.0, 4.0)]
    assert figure3_curves(lines) == [
        {
            "method": "gibbs",
            "sampler": "default",
            "start": 0,
            "causes": 3,
            "mean": 3.0,
            "sd": pytest.approx(2**0.5),
            "data_sets": 2,
        }
    ]


def test_figure_3_holds_only_within_half_a_cause_and_the_sources_rjmcmc_only_below():
    lines = [
        counted("gibbs", "default", 0, 3, 3.2),
        counted("gibbs", "default", 10, 3, 3.7),
        counted("rjmcmc", "wood2006", 0, 3, 1.1),
        counted("rjmcmc", "wood2006", 10, 3, 2.9),
        counted("rjmcmc", "default", 0, 3, 2.1),
    ]
    holds = {(v["method"], v["sampler"], v["start"]): v["holds"] for v in figure3_verdicts(lines)}
    assert holds == {
        ("gibbs", "default", 0): True,
        ("gibbs", "default", 10): False,
        ("rjmcmc", "wood2006", 0): True,
        ("rjmcmc", "wood2006", 10): False,
        ("rjmcmc", "default", 0): False,
    }


def test_figure_4_sets_our_moves_beside_the_sources():
    lines = [
        figure4_line("disconnected", 0, "gibbs", sampler, n_trials=200, sweeps=40, points=4)
        for sampler in ("default", "wood2006")
    ]
    assert lines[0]["sweeps"][-1] == 40
    curves = figure4_curves(lines)
    assert [len(curve["in_degree"]) for curve in curves] == [len(lines[0]["sweeps"])] * 2
    worse = {**lines[0], "structure_error": [99.0] * len(lines[0]["sweeps"])}
    assert [v["holds"] for v in figure4_verdicts([worse, lines[1]])] == [False]


def test_structures_are_of_the_sources_sizes_and_the_last_has_a_twin():
    assert {name: np.array(links).shape for name, links in STRUCTURES.items()} == {
        "degree 1": (6, 6),
        "disconnected": (6, 4),
        "under-complete": (6, 4),
        "over-complete": (6, 8),
    }
    over = np.array(STRUCTURES["over-complete"])
    np.testing.assert_array_equal(over[:, 4], over[:, 5])


def test_simulated_patients_are_like_the_sources():
    x, model = simulated_patients(0, patients=4000)
    assert x.shape == (4000, TRUTH["signs"])
    assert model.p.sum() == pytest.approx(1.96)  # localisations a patient
    assert x.sum(axis=1).mean() == pytest.approx(8.24, abs=1.5)  # signs a patient
    assert not (model.links[:20].any(axis=0) & model.links[20:40].any(axis=0)).any()


def test_figures_5_and_6_are_plain_values_with_verdicts():
    line = posterior_line(simulated_patients(0)[0], sweeps=60, chains=1)
    assert sum(line["count"]["histogram"][0]) == 30
    verdicts = {v["claim"][:1]: v["holds"] for v in stroke_verdicts(line)}
    assert verdicts["ε"]
    line["epsilon"]["mean"] = 0.3
    assert not {v["claim"][:1]: v["holds"] for v in stroke_verdicts(line)}["ε"]
