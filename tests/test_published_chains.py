"""Fits that others have printed, of data at hand: LMest's mixed latent Markov model of simulated criminal careers.

The vignette "Introduction to LMest" (Bartolucci, Pandolfi, Pennoni, Serafini) fits two classes of women that stay and
two states that move to `data_criminal_sim`, and prints all parameters to four digits; EM stopped at a change of 10⁻³.
"""

import csv
import gzip

import numpy as np
import pytest

import leverrier as lv

CRIMES = (
    "violence",
    "sexual",
    "burglary",
    "robbery",
    "theft",
    "fraud",
    "criminal_damage",
    "drugs",
    "motoring",
    "other",
)
CLASSES = np.array([0.5929, 0.4071])
FIRST = np.array([[0.9186, 0.0814], [0.7904, 0.2096]])
MOVES = np.array([[[0.9667, 0.0333], [0.4983, 0.5017]], [[0.9762, 0.0238], [0.3826, 0.6174]]])
SHOWN = np.array(
    [
        [0.0038, 0.0015, 0.0012, 0.0000, 0.0179, 0.0015, 0.0025, 0.0019, 0.0000, 0.0007],
        [0.1363, 0.0162, 0.2065, 0.0193, 0.4399, 0.0824, 0.1479, 0.0690, 0.0137, 0.1546],
    ]
)
ROUNDED = 5e-5
"""What is printed as 0 or 1 may be so far from it; EM would never leave it."""


def women(folder):
    """Their sequences, as columns of no and yes."""
    with gzip.open(folder / "sequences" / "criminal_sim.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["sex"] == "2"]
    frame = {name: [row[name] for row in rows] for name in ("sequence", "time")}
    frame |= {name: [("no", "yes")[int(row[name])] for row in rows] for name in CRIMES}
    states = dict.fromkeys(CRIMES, ("no", "yes"))
    return lv.read_sequences(frame, by="sequence", time="time", states=states)


def mixed(shown, first, moves, classes):
    tables = {name: np.column_stack([1 - shown[:, j], shown[:, j]]) for j, name in enumerate(CRIMES)}
    columns = {name: (("state",), tables[name]) for name in CRIMES}
    return lv.DynamicNetwork.from_tables(
        {"kind": ("1", "2"), "state": ("1", "2"), **dict.fromkeys(CRIMES, ("no", "yes"))},
        prior={"kind": ((), classes), "state": (("kind",), first), **columns},
        transition={"kind": ((("kind", 1),), np.eye(2)), "state": (("kind", ("state", 1)), moves), **columns},
        hidden=["kind", "state"],
    )


def test_lmests_printed_model_is_where_its_em_would_have_stopped(shared_data):
    """LMest ends when a step gains less than 10⁻³ of the log-likelihood: 18 nats here. The next step gains less."""
    data = women(shared_data)
    assert len(data) == 5200
    published = mixed(np.clip(SHOWN, ROUNDED, 1 - ROUNDED), FIRST, MOVES, CLASSES)
    printed = published.log_likelihood(data)
    after = lv.fit_dynamic(published, data, tolerance=1e-3)
    assert after.trace[0] == pytest.approx(printed, abs=1e-6)
    assert 0 < after.trace[1] - after.trace[0] < 1e-3 * abs(printed)
    assert after.log_likelihood > printed + 100  # (so far from the end it is)
    np.testing.assert_array_equal(after.network.transition["kind"].table(), np.eye(2))


def test_the_printed_shares_are_those_of_the_data(shared_data):
    """An M-step shares every crime out among the states: one and the same weight of the states gives all ten shares."""
    data = women(shared_data)
    seen = np.array([np.mean(data.table.column(name) == 1) for name in CRIMES])
    weight = float((seen - SHOWN[0]) @ (SHOWN[1] - SHOWN[0]) / ((SHOWN[1] - SHOWN[0]) @ (SHOWN[1] - SHOWN[0])))
    np.testing.assert_allclose((1 - weight) * SHOWN[0] + weight * SHOWN[1], seen, atol=1.5e-4)


def test_a_chain_of_counts_equals_hmmlearns():
    hmmlearn = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed: nothing to compare with")
    rng = np.random.default_rng(4)
    state = (np.cumsum(rng.random(900) < 0.06) % 2).astype(int)
    counts = np.column_stack([rng.poisson(1 + 3 * state), rng.poisson(6 - 3 * state)])
    frame = {"id": np.repeat([1, 2, 3], 300), "x": counts[:, 0], "y": counts[:, 1]}
    data = lv.read_sequences(frame, by="id")
    found = lv.hidden_markov(data, 2, emissions="poisson", seed=0, tolerance=1e-9, max_iterations=2000)
    moves = found.network.moves
    peer = hmmlearn.PoissonHMM(2, init_params="", n_iter=2000, tol=1e-9)
    peer.startprob_, peer.transmat_ = moves.initial, moves.matrix
    peer.lambdas_ = np.exp(np.column_stack([each.coefficients[:, 0] for each in found.network.emissions]))
    lengths = [300] * 3
    assert found.log_likelihood == pytest.approx(peer.score(counts, lengths), abs=1e-6)
    np.testing.assert_allclose(found.posterior, peer.predict_proba(counts, lengths), atol=1e-6)
    peer.fit(counts, lengths)  # (their EM from our end finds nothing more)
    assert peer.score(counts, lengths) == pytest.approx(found.log_likelihood, abs=1e-6)
