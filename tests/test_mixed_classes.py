"""A hidden class over numbers and categories: densities by hand, a simulated class found, silence where none is."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score

from leverrier.errors import InputError, OptionError
from leverrier.learning.classes.mixed_classes import mixed_classes
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.mixture import Mixture
from tests.naive import mixture as naive

MEANS = np.array([[0.0, 0.0, 0.0, 0.0], [2.5, -1.0, 1.5, 0.0], [-1.0, 2.5, 0.0, 2.5]])
TABLES = {
    "c1": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
    "c2": [[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]],
    "c3": [[0.1, 0.9], [0.6, 0.4], [0.9, 0.1]],
    "c4": [[0.3, 0.3, 0.4], [0.1, 0.8, 0.1], [0.5, 0.4, 0.1]],
}
STATES = {"c1": ("a", "b", "c"), "c2": ("no", "yes"), "c3": ("no", "yes"), "c4": ("x", "y", "z")}
NAMES = ("n1", "n2", "n3", "n4")
TRUE = MixedClasses(Mixture([0.3, 0.3, 0.4], MEANS, np.ones((3, 4)), "diagonal", NAMES), TABLES, STATES)
CORRELATED = np.array([[1.0, 0.8, 0.3, 0.0], [0, 1.0, 0.4, 0.2], [0, 0, 1.0, 0.5], [0, 0, 0, 1.0]])


def frame_without_a_class(seed, n=600, mixing=None):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 4)) @ (np.eye(4) if mixing is None else mixing)
    frame = pd.DataFrame(numbers, columns=NAMES)
    for name, labels in STATES.items():
        frame[name] = rng.choice(np.array(labels), n, p=np.full(len(labels), 1 / len(labels)))
    return frame


def by_hand(model, frame):
    """(rows, classes): log joint by SciPy's densities and the tables; holes say nothing."""
    m = model.numbers
    logs = naive.log_joint(frame[list(m.names)].to_numpy(dtype=float), m.weights, m.means, m.matrices)
    for name, table in model.tables.items():
        place = {label: code for code, label in enumerate(model.states[name])}
        for i, label in enumerate(frame[name]):
            if label in place:
                logs[i] += np.log(table[:, place[label]])
    return logs


def with_holes(frame, share, seed=0):
    rng = np.random.default_rng(seed)
    return frame.mask(rng.random(frame.shape) < share)


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_densities_and_posteriors_by_hand(kind, holes):
    spread = np.array([np.eye(4) + 0.3 * c for c in range(3)])
    numbers = TRUE.numbers if kind == "diagonal" else Mixture(TRUE.weights, MEANS, spread, names=NAMES)
    model = MixedClasses(numbers, TABLES, STATES)
    frame = with_holes(pd.DataFrame(model.sample(60, seed=1)), holes)
    logs = by_hand(model, frame)
    total = logsumexp(logs, axis=1)
    np.testing.assert_allclose(model.row_log_likelihood(frame), total, rtol=1e-10)
    np.testing.assert_allclose(model.posterior(frame), np.exp(logs - total[:, None]), atol=1e-10)


def test_dimension_and_profiles():
    assert TRUE.dimension == 2 + 12 + 12 + 3 * (2 + 1 + 1 + 2)
    profile = TRUE.profiles()[1]
    assert profile["share"] == 0.3
    assert profile["n1"] == (2.5, 1.0)
    assert profile["c2"] == {"no": 0.2, "yes": 0.8}


def test_samples_have_the_tables():
    columns, labels = TRUE.sample_labelled(30_000, seed=0)
    for name, table in TRUE.tables.items():
        for c in range(3):
            own = np.array(columns[name])[labels == c]
            shares = [(own == label).mean() for label in STATES[name]]
            np.testing.assert_allclose(shares, table[c], atol=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_class_behind_four_numbers_and_four_categories_is_found(seed):
    columns, labels = TRUE.sample_labelled(600, seed=seed)
    found = mixed_classes(pd.DataFrame(columns), range(1, 6), starts=4)
    assert found.states == 3
    assert found.model.numbers.kind == "diagonal"
    assert adjusted_rand_score(labels, found.posterior.argmax(axis=1)) >= 0.9
    assert found.gain > 100
    assert found.log_likelihood > TRUE.log_likelihood(columns)
    assert np.all(np.diff(found.trace) > -1e-9)
    assert found.log_likelihood == pytest.approx(found.model.log_likelihood(columns), abs=1e-7)


@pytest.mark.parametrize("mixing", [None, CORRELATED])
def test_without_a_class_nothing_is_found(mixing):
    found = mixed_classes(frame_without_a_class(3, mixing=mixing), range(1, 4), starts=3)
    assert found.states == 1
    assert found.gain == 0
    assert found.model.numbers.kind == ("diagonal" if mixing is None else "full")


def test_with_correlated_numbers_a_class_is_still_found():
    columns, labels = TRUE.sample_labelled(800, seed=5)
    mixed = np.column_stack([columns[name] for name in NAMES]) @ CORRELATED
    frame = pd.DataFrame(columns).assign(**dict(zip(NAMES, mixed.T, strict=True)))
    found = mixed_classes(frame, range(1, 5), starts=4)
    assert (found.states, found.model.numbers.kind) == (3, "full")
    assert adjusted_rand_score(labels, found.posterior.argmax(axis=1)) >= 0.9


def test_holes_everywhere():
    columns, labels = TRUE.sample_labelled(600, seed=2)
    frame = with_holes(pd.DataFrame(columns), 0.15)
    found = mixed_classes(frame, 3, starts=4)
    assert found.status.converged
    assert adjusted_rand_score(labels, found.posterior.argmax(axis=1)) >= 0.8
    np.testing.assert_allclose(found.posterior, found.model.posterior(frame), atol=1e-9)
    assert logsumexp(by_hand(found.model, frame), axis=1).sum() == pytest.approx(found.log_likelihood, abs=1e-6)


def test_no_small_change_of_the_parameters_is_better():
    frame = pd.DataFrame(TRUE.sample(200, seed=4))
    found = mixed_classes(frame, 2, covariance="diagonal", prior=None, starts=3, tolerance=1e-10)
    model, best = found.model, found.log_likelihood
    for name, table in model.tables.items():
        for c in range(2):
            for step in (1e-4, -1e-4):
                other = table.copy()
                other[c, 0] += step
                other[c, 1] -= step
                if other.min() >= 0:
                    moved = MixedClasses(model.numbers, {**model.tables, name: other}, model.states)
                    assert moved.log_likelihood(frame) < best
    m = model.numbers
    for step in (1e-4, -1e-4):
        for moved in (
            Mixture(m.weights, m.means + step, m.covariances, m.kind, m.names),
            Mixture(m.weights, m.means, m.covariances * (1 + step), m.kind, m.names),
            Mixture(m.weights + [step, -step], m.means, m.covariances, m.kind, m.names),  # noqa: RUF005
        ):
            assert MixedClasses(moved, model.tables, model.states).log_likelihood(frame) < best


def test_without_categories_it_is_a_mixture():
    frame = frame_without_a_class(1)[["n1", "n2"]] + np.where(np.arange(600) < 200, 4.0, 0.0)[:, None]
    found = mixed_classes(frame, 2, covariance="full", prior=None)
    assert found.log_likelihood == pytest.approx(fit_mixture(frame, 2, prior=None).log_likelihood, abs=1e-5)


def test_weights_are_repeated_rows():
    frame = pd.DataFrame(TRUE.sample(150, seed=6))
    counts = np.random.default_rng(0).integers(1, 4, 150)
    some = mixed_classes(frame, 2, covariance="diagonal", weights=counts, prior=None, starts=4)
    rows = mixed_classes(frame.loc[frame.index.repeat(counts)], 2, covariance="diagonal", prior=None, starts=4)
    assert some.log_likelihood == pytest.approx(rows.log_likelihood, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"numbers": []}, "latent_classes"),
        ({"numbers": ["c1"]}, "is to be numbers and holds"),
        ({"states": 0}, "at least 1"),
        ({"covariance": "round"}, "covariance="),
        ({"criterion": "cic"}, "criterion="),
        ({"prior": 1}, "prior="),
        ({"starts": 0}, "starts=0"),
    ],
)
def test_odd_options_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        mixed_classes(pd.DataFrame(TRUE.sample(50, seed=0)), **options)


def test_what_is_no_model_is_refused():
    with pytest.raises(OptionError, match="not a distribution"):
        MixedClasses(TRUE.numbers, {"c2": [[0.5, 0.6]] * 3}, {"c2": STATES["c2"]})
    with pytest.raises(OptionError, match="shape"):
        MixedClasses(TRUE.numbers, {"c2": [[0.5, 0.5]]}, {"c2": STATES["c2"]})
