"""Every fast kernel against its definition: counts in packed levels, summed-out pairs, births, slices."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from leverrier.kernels.noisy_or.bit_levels import (
    evidence,
    fill_steps,
    histogram,
    lower_levels,
    raise_levels,
    row_levels,
)
from leverrier.kernels.noisy_or.dense_moves import (
    draw_solo,
    gain,
    row_off,
    solo_gain,
    sweep_active_dense,
    sweep_links_dense,
)
from leverrier.kernels.noisy_or.hyper_slices import log_columns, log_density, slice_alpha, slice_unit
from leverrier.kernels.noisy_or.new_causes import draw_births, draw_new_active
from leverrier.kernels.noisy_or.packed_sweeps import sweep_active, sweep_active_wide, sweep_links
from leverrier.kernels.noisy_or.pair_moves import allocate, draw_pair, redraw_links, start_pair, take_in
from leverrier.kernels.noisy_or.random_stream import coin, uniform
from leverrier.models.noisy_or.causes_prior import BetaBernoulli, IndianBuffet
from leverrier.noisy_or.observations import Observations, pack, unpack
from tests.naive import hidden_causes as slow

EPSILON, LAM, P = 0.05, 0.7, 0.3
pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")  # streams wrap; seen without the compiler


def stream(seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, 4, dtype=np.uint64)


@pytest.fixture
def problem():
    """Cells with holes, links and activity: 9 signs, 5 causes, 70 trials (more than one word)."""
    rng = np.random.default_rng(4)
    cells = rng.choice(np.array([0, 1, 2], np.uint8), (9, 70), p=[0.5, 0.4, 0.1])
    links = (rng.random((5, 9)) < 0.5).astype(np.uint8)
    links[:, 0] = 1
    active = (rng.random((5, 70)) < 0.5).astype(np.uint8)
    return cells, links, active


def columns_of(links, active):
    return [(z.copy(), y.copy()) for z, y in zip(links, active, strict=True)]


def test_uniforms_are_uniform_and_coins_have_their_odds():
    words = stream(1)
    u = np.array([uniform(words) for _ in range(20_000)])
    assert chisquare(np.histogram(u, 20, (0, 1))[0]).pvalue > 1e-3
    for log_odds in (-17.0, -3.3, -0.1, 0.0, 2.2, 17.0):
        heads = np.mean([coin(log_odds, words) for _ in range(20_000)])
        chance = 1 / (1 + math.exp(-log_odds))
        assert abs(heads - chance) < 4 * math.sqrt(max(chance * (1 - chance), 1e-5) / 20_000)


def test_packed_bits_come_back():
    bits = (np.random.default_rng(1).random((3, 130)) < 0.5).astype(np.uint8)
    np.testing.assert_array_equal(unpack(pack(bits), 130), bits)


def test_levels_count_active_causes(problem):
    _, links, active = problem
    above, rest = np.empty((6, 2), np.uint64), np.empty(2, np.uint64)
    words = pack(active)
    top = row_levels(links, words, 5, 0, above, rest)
    count = active.sum(axis=0)
    for c in range(5):
        np.testing.assert_array_equal(unpack(above[c : c + 1], 70)[0] if c < top else np.zeros(70), count > c)
    counts = np.empty(6, np.int64)
    histogram(pack(np.ones((1, 70)))[0], above, top, counts)
    np.testing.assert_array_equal(counts[: top + 1], np.bincount(count, minlength=top + 1))
    for k in range(5):
        top = lower_levels(above, top, words[k], rest)
    assert top == 0
    assert raise_levels(above, top, words[0], rest) == 1


def test_the_evidence_of_a_link_is_the_change_of_the_likelihood(problem):
    cells, links, active = problem
    step = np.empty(8)
    fill_steps(EPSILON, LAM, step)
    seen, words = Observations.of(cells.T.copy()), pack(active)
    above, rest, off = np.empty((6, 2), np.uint64), np.empty(2, np.uint64), np.empty(70)
    for i, k in ((0, 0), (3, 2), (8, 4)):
        without = links.copy()
        without[k, i] = 0
        top = row_levels(without, words, 5, i, above, rest)
        packed = evidence(words[k], seen.ones[i], seen.zeros[i], above, top, step, math.log1p(-LAM), rest)
        row_off(without, words, np.full(5, 1 - LAM), 5, i, EPSILON, -1, -1, off)
        with_link = without.copy()
        with_link[k, i] = 1
        expected = slow.log_likelihood(cells, columns_of(with_link, active), EPSILON, LAM) - slow.log_likelihood(
            cells, columns_of(without, active), EPSILON, LAM
        )
        assert packed == pytest.approx(expected, abs=1e-9)
        assert gain(cells[i], off, words[k], 1 - LAM) == pytest.approx(expected, abs=1e-9)


def run_links(cells, links, active, rate, seed):
    """The packed kernel over all rows; returns links and activity."""
    seen, n = Observations.of(cells.T.copy()), len(links)
    room = 20
    z, y = np.zeros((n + room, 9), np.uint8), np.zeros((n + room, 2), np.uint64)
    z[:n], y[:n] = links, pack(active)
    degree = z.sum(axis=1).astype(np.int64)
    _, size = sweep_links(
        seen.ones,
        seen.zeros,
        z,
        y,
        degree,
        n,
        np.arange(9),
        0,
        rate > 0,
        0.0 if rate else 0.4,
        rate,
        EPSILON,
        LAM,
        P,
        70,
        np.empty((n + room + 1, 2), np.uint64),
        np.empty(2, np.uint64),
        np.empty(n + room + 1, np.int64),
        np.empty(n + room + 1),
        np.empty(9),
        np.empty(8),
        stream(seed),
    )
    np.testing.assert_array_equal(degree[:size], z[:size].sum(axis=1))
    return z[:size], y[:size]


def test_packed_and_dense_sweeps_draw_the_same(problem):
    """Two ways of computing the same odds from the same random stream: every draw must be equal."""
    cells, links, active = problem
    z, y = run_links(cells, links, active, 0.0, seed=2)
    dense_z, dense_y = links.copy(), pack(active)
    sweep_links_dense(
        cells,
        dense_z,
        dense_y,
        links.sum(axis=1).astype(np.int64),
        5,
        np.arange(9),
        False,
        0.4,
        np.full(5, 1 - LAM),
        EPSILON,
        np.empty(70),
        np.empty(9),
        stream(2),
    )
    np.testing.assert_array_equal(z, dense_z)
    seen, p = Observations.of(cells.T.copy()), np.full(5, P)
    results = []
    for wide in (False, True):
        y, step = pack(active), np.empty(6)
        ones, zeros = seen.ones_by_trial, seen.zeros_by_trial
        if wide:
            masks, above, tops = np.empty((5, 1), np.uint64), np.empty((1, 6), np.uint64), np.empty(1, np.int64)
            sweep_active_wide(ones, zeros, links, y, p, EPSILON, LAM, step, masks, above, tops, stream(3))
        else:
            masks, above = np.empty(5, np.uint64), np.empty(6, np.uint64)
            sweep_active(ones.ravel(), zeros.ravel(), links, y, p, EPSILON, LAM, step, masks, above, stream(3))
        results.append(y)
    y = pack(active)
    sweep_active_dense(cells, links, y, p, np.full(5, 1 - LAM), EPSILON, np.empty(9), stream(3))
    np.testing.assert_array_equal(results[0], y)
    np.testing.assert_array_equal(results[1], y)


def test_many_signs_take_the_wide_way():
    """More than 64 signs: two words a trial must draw what the cell-by-cell kernel draws."""
    rng = np.random.default_rng(8)
    cells = rng.choice(np.array([0, 1, 2], np.uint8), (100, 30), p=[0.6, 0.3, 0.1])
    links = (rng.random((4, 100)) < 0.1).astype(np.uint8)
    start, p = pack(rng.random((4, 30)) < 0.3), np.full(4, P)
    seen, fast, dense = Observations.of(cells.T.copy()), start.copy(), start.copy()
    sweep_active_wide(
        seen.ones_by_trial,
        seen.zeros_by_trial,
        links,
        fast,
        p,
        EPSILON,
        LAM,
        np.empty(5),
        np.empty((4, 2), np.uint64),
        np.empty((2, 5), np.uint64),
        np.empty(2, np.int64),
        stream(5),
    )
    sweep_active_dense(cells, links, dense, p, np.full(4, 1 - LAM), EPSILON, np.empty(100), stream(5))
    np.testing.assert_array_equal(fast, dense)


def test_the_number_of_new_causes_has_its_posterior():
    """Eqs. 13–15 by brute force over every y of every new cause."""
    cells = np.array([[1, 1, 0, 2, 1]], np.uint8)
    columns = [(np.array([1]), np.array([0, 1, 0, 1, 0]))]
    rate = 0.8
    logs = []
    for n in range(7):
        new = [(np.array([1]), np.zeros(5, int)) for _ in range(n)]
        summed = slow.log_evidence(cells, columns + new, new, EPSILON, LAM, P)
        logs.append(n * math.log(rate) - math.lgamma(n + 1) + summed)
    chances = np.exp(np.array(logs) - max(logs))
    words, weights = stream(6), np.empty(40)
    counts = np.array([2, 1], np.int64)  # of the ones: two with no active cause, one with one
    drawn = [draw_births(counts, 1, 1, rate, EPSILON, LAM, P, weights, words) for _ in range(6000)]
    found = np.bincount(np.minimum(drawn, 4), minlength=5)
    expected = np.append(chances[:4], chances[4:].sum()) / chances.sum()
    assert chisquare(found, expected * 6000).pvalue > 1e-3


def test_births_of_a_row_of_ones_are_not_cut_short():
    """A row that only ones fill wants many causes; the series must run on until the rest is nothing."""
    words, weights = stream(7), np.empty(64)
    drawn = [draw_births(np.array([200]), 0, 0, 3.0, 0.01, 0.5, 0.5, weights, words) for _ in range(300)]
    logs = [n * math.log(3) - math.lgamma(n + 1) + 200 * math.log1p(-0.99 * 0.75**n) for n in range(60)]
    chances = np.exp(np.array(logs) - max(logs))
    mean = (np.arange(60) * chances).sum() / chances.sum()
    sd = math.sqrt(((np.arange(60) - mean) ** 2 * chances).sum() / chances.sum())
    assert abs(np.mean(drawn) - mean) < 4 * sd / math.sqrt(300)


def test_new_causes_are_active_together_as_they_should():
    """Two new causes of one sign, jointly, for a one, a zero and a hole."""
    cells = np.array([[1, 0, 2]], np.uint8)
    seen = Observations.of(cells.T.copy())
    above, active, words = np.zeros((2, 1), np.uint64), np.zeros((2, 1), np.uint64), stream(0)
    found = np.zeros((3, 4))
    for _ in range(8000):
        draw_new_active(seen.ones[0], seen.zeros[0], above, 0, active, 0, 2, EPSILON, LAM, P, 3, words)
        y = unpack(active, 3)
        found[np.arange(3), y[0] + 2 * y[1]] += 1
    for t in range(3):
        chance = np.array(
            [
                P**n
                * (1 - P) ** (2 - n)
                * {1: 1 - (1 - EPSILON) * (1 - LAM) ** n, 0: (1 - LAM) ** n, 2: 1.0}[cells[0, t]]
                for n in (0, 1, 1, 2)
            ]
        )
        assert chisquare(found[t], chance / chance.sum() * 8000).pvalue > 1e-3


def test_a_solo_cause_is_weighed_and_drawn_by_its_definition():
    cells = np.array([[1, 0, 2, 1]], np.uint8)
    columns = [(np.array([1]), np.array([0, 1, 0, 1]))]
    off = np.empty(4)
    row_off(np.ones((1, 1), np.uint8), pack(columns[0][1][None]), np.array([1 - LAM]), 1, 0, EPSILON, -1, -1, off)
    new = (np.array([1]), np.zeros(4, int))
    expected = slow.log_evidence(cells, [*columns, new], [new], EPSILON, LAM, P)
    expected -= slow.log_evidence(cells, columns, [], EPSILON, LAM, P)
    assert solo_gain(cells[0], off, LAM, P) == pytest.approx(expected, abs=1e-12)
    active, words, total = np.zeros(1, np.uint64), stream(9), np.zeros(4)
    for _ in range(8000):
        draw_solo(cells[0], off, LAM, P, active, words)
        total += unpack(active[None], 4)[0]
    chance = [slow_chance(cells, columns, t) for t in range(4)]
    assert total / 8000 == pytest.approx(chance, abs=0.025)


def slow_chance(cells, columns, t):
    logs = [
        slow.log_joint(
            cells[:, t : t + 1],
            [(z, y[t : t + 1]) for z, y in columns] + [(np.array([1]), np.array([b]))],
            EPSILON,
            LAM,
            P,
        )
        for b in (0, 1)
    ]
    return 1 / (1 + math.exp(logs[0] - logs[1]))


def pair_off(cells, others):
    """P(x = 0) from the other causes."""
    off = np.full(cells.shape, 1 - EPSILON)
    for z, y in others:
        off *= np.where(z[:, None] * y[None], 1 - LAM, 1.0)
    return off


def test_a_pair_summed_out_has_the_definitions_evidence():
    rng = np.random.default_rng(10)
    cells = rng.choice(np.array([0, 1, 2], np.uint8), (4, 6))
    others = [(np.array([1, 0, 1, 0]), rng.integers(0, 2, 6))]
    pair = [(np.array([1, 1, 0, 0]), np.zeros(6, int)), (np.array([1, 0, 1, 0]), np.zeros(6, int))]
    kinds = pair[0][0] + 2 * pair[1][0]
    weights = np.empty((4, 6))
    prior = np.full((4, 4), 0.25)
    off, order = pair_off(cells, others), rng.permutation(4)
    _, found = allocate(cells, off, order, prior, kinds, True, 1 - LAM, 1 - LAM, P, P, weights, stream())
    on = sum(int(y.sum()) for _, y in others)
    prior_of_others = on * math.log(P) + (6 - on) * math.log(1 - P)
    assert found == pytest.approx(slow.log_evidence(cells, others + pair, pair, EPSILON, LAM, P) - prior_of_others)
    again = np.empty((4, 6))
    start_pair(again, P, P)
    for i in range(4):
        let = [1 - LAM if kinds[i] & bit else 1.0 for bit in (1, 2)]
        take_in(cells[i], off[i], again, *let, False)
    np.testing.assert_allclose(again, weights, atol=1e-12)
    take_in(cells[0], off[0], again, 1 - LAM, 1 - LAM, False)
    take_in(cells[0], off[0], again, 1 - LAM, 1 - LAM, True)
    np.testing.assert_allclose(again, weights, atol=1e-12)


def test_what_is_proposed_has_the_chance_that_is_said():
    """log q of each allocation, asked for by force, sums to one over all allocations, and draws follow it."""
    rng = np.random.default_rng(11)
    cells = rng.choice(np.array([0, 1], np.uint8), (2, 5))
    off, order, words = np.full((2, 5), 0.8), np.array([1, 0]), stream(12)
    prior = np.array([[0.4, 0.2, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4]])
    weights, chances = np.empty((4, 5)), np.empty(16)
    for code in range(16):
        kinds = np.array([code & 3, code >> 2])
        chances[code] = math.exp(allocate(cells, off, order, prior, kinds, True, 0.3, 0.6, 0.2, 0.4, weights, words)[0])
    assert chances.sum() == pytest.approx(1.0)
    found = np.zeros(16)
    for _ in range(5000):
        kinds = np.empty(2, np.int64)
        allocate(cells, off, order, prior, kinds, False, 0.3, 0.6, 0.2, 0.4, weights, words)
        found[kinds[0] + 4 * kinds[1]] += 1
    assert chisquare(found, chances * 5000).pvalue > 1e-3


def test_pair_weights_are_drawn_as_they_stand():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 3).T.copy()
    a, b, words, found = np.empty(1, np.uint64), np.empty(1, np.uint64), stream(13), np.zeros((4, 3))
    for _ in range(5000):
        draw_pair(weights, a, b, words)
        found[unpack(a[None], 3)[0] + 2 * unpack(b[None], 3)[0], np.arange(3)] += 1
    for t in range(3):
        assert chisquare(found[:, t], weights[:, t] * 5000).pvalue > 1e-3


def test_a_redrawn_pair_keeps_a_last_link_and_its_counts(problem):
    cells, _, _ = problem
    off, words = np.full((9, 70), 0.9), stream(14)
    for _ in range(50):
        links_a, links_b = np.eye(9, dtype=np.uint8)[0].copy(), np.ones(9, np.uint8)
        degrees, weights = np.array([1, 9]), np.empty((4, 70))
        redraw_links(cells, off, np.arange(9), links_a, links_b, degrees, True, 0.0, 0.3, 0.3, P, P, weights, words)
        assert degrees.tolist() == [links_a.sum(), links_b.sum()]
        assert degrees.min() > 0


def test_column_probabilities_are_the_priors():
    rng = np.random.default_rng(15)
    links = (rng.random((6, 4)) < 0.5).astype(np.uint8)
    links[0] = 1
    degree = links.sum(axis=0).astype(np.int64)
    assert log_columns(degree, 6, 1.7, 0.6, False) == pytest.approx(BetaBernoulli(1.7, 0.6).log_probability(links))
    _, repeats = np.unique(links, axis=1, return_counts=True)
    orders = math.lgamma(5) - sum(math.lgamma(n + 1) for n in repeats)
    assert log_columns(degree, 6, 1.7, 0.6, True) == pytest.approx(IndianBuffet(1.7).log_probability(links) - orders)


def test_slices_have_the_density_they_slice():
    base, weight, power = np.array([0.9, 0.5]), np.array([3.0, 2.0]), np.array([1.0, 2.0])
    grid = np.linspace(0.0005, 0.9995, 2000)
    log_density = 0.5 * np.log(grid) + (1.0 + 4.0) * np.log1p(-grid)
    log_density += 3 * np.log1p(-0.9 * (1 - grid)) + 2 * np.log1p(-0.5 * (1 - grid) ** 2)
    density = np.exp(log_density - log_density.max())
    mean = (grid * density).sum() / density.sum()
    second = (grid**2 * density).sum() / density.sum()
    words, v, values = stream(16), 0.5, np.empty(6000)
    for j in range(6000):
        v = slice_unit(v, base, weight, power, 2, 4.0, 1.5, 2.0, words)
        values[j] = v
    assert values.mean() == pytest.approx(mean, abs=0.01)
    assert (values**2).mean() == pytest.approx(second, abs=0.01)


def test_a_factor_for_every_cell_is_the_same_density():
    rng, none = np.random.default_rng(18), np.empty(0)
    base = np.concatenate([rng.random(900), np.ones(100)])  # their product is far below the smallest number
    for v in (1e-12, 1e-3, 0.4, 1 - 1e-9):
        each = log_density(v, base, none, none, 1000, 7.0, 2.0, 3.0)
        assert each == pytest.approx(log_density(v, base, np.ones(1000), np.ones(1000), 1000, 7.0, 2.0, 3.0), rel=1e-3)


def test_the_finite_models_alpha_has_its_density():
    degree = np.array([3, 1, 0], np.int64)
    grid = np.linspace(0.005, 40, 8000)
    logs = np.array(
        [
            2 * math.log(a) - a + sum(math.log(a / 3) + math.lgamma(m + a / 3) - math.lgamma(5 + a / 3) for m in degree)
            for a in grid
        ]
    )
    density = np.exp(logs - logs.max())
    mean = (grid * density).sum() / density.sum()
    words, alpha, values = stream(17), 1.0, np.empty(6000)
    for j in range(6000):
        alpha = slice_alpha(alpha, degree, 4, 3.0, 1.0, words)
        values[j] = alpha
    assert values.mean() == pytest.approx(mean, rel=0.03)
