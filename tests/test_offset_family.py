"""Whole numbers as sums of others and a step: chances by enumeration, densities that are whole, EM against a count, the
search, the file."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from leverrier.learning.mixed.count_fit import counted_of
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_space import make_space
from leverrier.learning.mixed.offset_fit import fit_offsets, step_law
from leverrier.models.families.number_content import number_family
from leverrier.models.families.number_offset import NumberOffset, StepLaw
from leverrier.report.words.family_words import family_words

LAW = StepLaw(-1, (0.2, 0.5, 0.3))


def space(cap=12.0, rows=1500, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 15, rows).astype(float), rng.integers(0, 9, rows).astype(float)
    step = rng.choice([-1, 0, 1], rows, p=LAW.shares)
    return make_space({"a": a, "b": b, "y": np.clip(a + b + step, 0, cap)}, {}, ("a", "b", "y"), seed)


def family(found):
    (fitted,) = fit_offsets(MixedScores(found).design, 2, (0, 1))
    assert isinstance(fitted.family, NumberOffset)
    return fitted, fitted.family


def test_chances_of_steps_are_those_that_were_given():
    y, begun = np.arange(0.0, 9.0), np.full(9, 4.0)
    chance = np.array([0, 0, 0, 0.2, 0.5, 0.3, 0, 0, 0])
    assert np.exp(LAW.log_chance(y, begun)) == pytest.approx(chance, abs=1e-12)
    assert LAW.up_to(y, begun) == pytest.approx(np.cumsum(chance))
    assert LAW.up_to(np.array([-1.0, np.inf]), np.full(2, -5.0)).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("cap", [12.0, 40.0])  # (a cap in many rows makes the number one of codes)
def test_a_density_is_whole_and_what_lies_beyond_the_ends_is_theirs(cap):
    found = space(cap)
    _, own = family(found)
    column = found.columns[2]
    assert bool(own.counted.cuts) == column.discrete == (cap < 40)
    z = ndtri((np.arange(20_000) + 0.5) / 20_000)
    for a, b in ((0.0, 0.0), (6.0, 5.0), (14.0, 8.0)):
        parents = [
            np.full(len(z), c.scores[np.flatnonzero(c.raw == v)[0]])
            for c, v in zip(found.columns, (a, b), strict=False)
        ]
        logs = own.log_density(z, parents)
        if column.discrete:
            codes = np.searchsorted(np.array(own.counted.cuts), z, side="right")
            first = np.unique(codes, return_index=True)[1]
            assert np.exp(logs[first]).sum() == pytest.approx(1.0, abs=1e-6)
        else:
            assert np.exp(logs + 0.5 * (np.log(2 * np.pi) + z * z)).mean() == pytest.approx(1.0, abs=0.02)


def test_steps_that_no_end_hides_have_their_shares_in_the_rows():
    found = space(cap=40.0, rows=4000)
    counted = counted_of(found.columns[2])
    a, b, y = (column.raw for column in found.columns)
    inside = (y > 0) & (a + b > 0)
    law = step_law(counted, counted.place(found.columns[2].scores), a + b)
    seen = np.array([np.mean((y - a - b)[inside] == k) for k in (-1, 0, 1)])
    shares = np.array(law.shares)[-1 - law.first : 2 - law.first]
    assert shares == pytest.approx(seen, abs=0.01)


def test_steps_that_a_cap_hides_are_found_again():
    _, own = family(space(cap=10.0, rows=6000))
    shares = np.array(own.law.shares)[-1 - own.law.first : 2 - own.law.first]
    assert own.signs == (1, 1)
    assert shares == pytest.approx(LAW.shares, abs=0.04)


def test_the_search_takes_it_where_it_is_the_truth_and_draws_are_like_the_rows():
    found = space()
    scores = MixedScores(found)
    best = scores.fitted(2, (0, 1))
    assert isinstance(best.family, NumberOffset)
    parents = [found.columns[v].scores for v in (0, 1)]
    drawn = best.family.draw(parents, found.n_rows, np.random.default_rng(1))
    back = best.family.counted.numbers(drawn)
    begun = best.family.begun(parents)
    far = np.abs(back - np.clip(begun, 0, 12))
    assert (far <= 1).mean() > 0.995  # (other steps keep a little of the prior)
    assert set(np.unique(back)) <= set(best.family.counted.values)
    assert ndtr(drawn).mean() == pytest.approx(0.5, abs=0.05)


def test_states_that_are_whole_numbers_are_children_by_their_codes():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 15, 2000).astype(float)
    y = np.clip(a - 4 + rng.choice([-1, 0, 1], 2000, p=LAW.shares), 0, 5).astype(int)
    found = make_space({"a": a}, {"y": (y, (0, 1, 2, 3, 4, 5), True)}, ("a", "y"), 0)
    (fitted,) = fit_offsets(MixedScores(found).design, 1, (0,))
    parents = [np.full(6, found.columns[0].scores[np.flatnonzero(a == 6)[0]])]
    chance = np.exp(fitted.family.log_density(np.arange(6), parents))
    assert chance == pytest.approx([0, 0.2, 0.5, 0.3, 0, 0], abs=0.03)
    drawn = fitted.family.draw([found.columns[0].scores], 2000, np.random.default_rng(0))
    assert np.bincount(drawn, minlength=6) / 2000 == pytest.approx(np.bincount(y, minlength=6) / 2000, abs=0.04)


def test_a_line_with_noise_of_its_own_is_none():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 40, 1000).astype(float)
    y = np.maximum(np.round(1.7 * a + rng.normal(0, 6, 1000)), 0.0)
    found = make_space({"a": a, "y": y}, {}, ("a", "y"), 0)
    assert not isinstance(MixedScores(found).fitted(1, (0,)).family, NumberOffset)


def test_it_is_saved_and_said():
    fitted, own = family(space())
    again = number_family(own.content())
    z = space().columns
    parents = [z[0].scores, z[1].scores]
    assert again.log_density(z[2].scores, parents) == pytest.approx(own.log_density(z[2].scores, parents))
    assert family_words(own, "y", ("a", "b")) == "y is a + b and a step, mostly -1 to 1"
    assert fitted.score < fitted.log_likelihood
