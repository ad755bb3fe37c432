"""Figures of a textbook: Zucchini & MacDonald, Hidden Markov Models for Time Series (2009), tables 4.1 and 4.2.

World-wide earthquakes of magnitude 7 and above by year, 1900 to 2006, as the book tabulates them; Poisson chains with
two and three states, EM from the book's own beginnings, step by step.
"""

from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.sequences.panel import panel_of
from leverrier.learning.regimes.column_laws import emission_of
from leverrier.learning.regimes.regime_em import Designs, climb
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.moves import even_moves
from leverrier.models.regimes.regime_model import RegimeModel

EARTHQUAKES = """
13 14 8 10 16 26 32 27 18 32 36 24 22 23 22 18 25 21 21 14 8 11 14 23 18 17 19 20 22 19 13 26 13 14 22 24 21 22 26 21
23 24 27 41 31 27 35 26 28 36 39 21 17 22 17 19 15 34 10 15 22 18 15 20 15 22 19 16 30 27 29 23 20 16 21 21 25 16 18
15 18 14 10 15 8 15 6 11 8 7 18 16 13 12 13 20 15 16 12 18 15 16 13 15 16 11 11
"""
TWO = {0: 413.27542, 1: 343.76023, 2: 343.13618, 30: 341.87871, 50: 341.87870}
"""By step of EM, −ln likelihood."""
THREE = {0: 342.90781, 1: 332.12143, 2: 330.63689, 30: 328.52748}


@pytest.fixture(scope="module")
def years():
    counts = np.array(EARTHQUAKES.split(), dtype=np.int64)
    assert len(counts) == 107
    return lv.read_sequences({"year": np.arange(1900, 2007), "quakes": counts}, time="year")


def begun_at(years, means, stay):
    panel = panel_of(years, {"quakes"})
    law = emission_of(panel, "quakes", Family.POISSON).spread_over(len(means))
    law = replace(law, coefficients=np.log(np.array(means))[:, None])
    return RegimeModel(years.table.columns, (law,), even_moves(len(means), stay)), Designs(panel)


@pytest.mark.parametrize(("means", "stay", "book"), [((10.0, 30.0), 0.9, TWO), ((10.0, 20.0, 30.0), 0.8, THREE)])
def test_every_step_of_em_is_the_books(years, means, stay, book):
    model, designs = begun_at(years, means, stay)
    steps = climb(model, designs, max_iterations=max(book), tolerance=0.0)
    ended = len(steps.trace) - 1  # (where a step gains nothing at all EM is over)
    assert {step: round(-steps.trace[min(step, ended)], 5) for step in book} == book


def test_two_and_three_states_end_where_the_books_do(years):
    model, designs = begun_at(years, (10.0, 30.0), 0.9)
    first = climb(model, designs, max_iterations=1, tolerance=0.0).model
    np.testing.assert_allclose(np.exp(first.emissions[0].coefficients[:, 0]), [13.742, 24.169], atol=5e-4)
    np.testing.assert_allclose(first.moves.matrix[[0, 1], [1, 0]], [0.138816, 0.11622], atol=5e-6)
    assert first.moves.initial[0] == pytest.approx(0.99963, abs=5e-6)
    two = lv.hidden_markov(years, 2, emissions="poisson", seed=0, tolerance=1e-9, max_iterations=2000)
    assert -two.log_likelihood == pytest.approx(341.87870, abs=6e-6)
    three = lv.hidden_markov(years, 3, emissions="poisson", seed=0, tolerance=1e-9, max_iterations=2000)
    assert -three.log_likelihood == pytest.approx(328.52748, abs=6e-6)
    means = np.exp(three.network.emissions[0].coefficients[:, 0])
    order = np.argsort(means)
    np.testing.assert_allclose(means[order], [13.134, 19.713, 29.710], atol=6e-4)
    np.testing.assert_allclose(
        three.network.moves.matrix[np.ix_(order, order)],
        [[0.9393, 0.0321, 0.0286], [0.0404, 0.9064, 0.0532], [0.0, 0.1903, 0.8097]],
        atol=6e-5,
    )


def stationary(years):
    """The book's model of three states whose chain has no beginning: parameters to four digits."""
    model, designs = begun_at(years, (13.146, 19.721, 29.714), 0.9)
    moves = np.array([[0.9546, 0.0244, 0.0210], [0.0498, 0.8993, 0.0509], [0.0, 0.1966, 0.8034]])
    moves = replace(model.moves, initial=np.array([0.4436, 0.4045, 0.1519]), matrix=moves)
    return replace(model, moves=moves), designs.panel


def test_states_are_foretold_as_in_the_book(years):
    model, panel = stationary(years)
    assert -model.log_likelihood(panel) == pytest.approx(329.46028, abs=1e-4)
    now = model.posterior(panel, filtered=True)[-1]
    book = {2007: [0.951, 0.028, 0.021], 2009: [0.871, 0.077, 0.052], 2036: [0.482, 0.373, 0.145]}
    for year, chances in book.items():
        np.testing.assert_allclose(now @ np.linalg.matrix_power(model.moves.matrix, year - 2006), chances, atol=1.1e-3)
    drawn = model.forecast(panel, steps=3, draws=2000, seed=0).states[0, -1]
    np.testing.assert_allclose(drawn, book[2009], atol=0.03)
