"""Means of many slices before as regressors: against a loop, as they are drawn, a row at a time, in the rival."""

import numpy as np
import pytest

import leverrier as lv
from benchmarks.time_foreign import slow_memory
from leverrier.data.sequences.panel import Panel, panel_of
from leverrier.data.sequences.read_sequences import read_sequences
from leverrier.data.variable import ColumnKind, Variable
from leverrier.discovery.regimes.column_roles import number_columns, roles_of
from leverrier.discovery.regimes.rival_terms import rival_columns
from leverrier.learning.regimes.regime_em import Designs
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.moves import even_moves
from leverrier.models.regimes.number_emissions import NumberEmission
from leverrier.models.regimes.regime_draws import drawn_like
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import Term, mean_terms

STARTS = np.array([0, 7, 8, 30])


def panel(holes=True):
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, 30)
    kind = rng.integers(0, 3, 30).astype(float)
    if holes:
        x[[2, 3, 12]] = np.nan
        kind[5] = np.nan
    times = np.concatenate([np.arange(n) for n in np.diff(STARTS)]).astype(float)
    return Panel({"x": x, "kind": kind}, {"kind": ("a", "b", "c")}, STARTS, times)


def looped(cells, over):
    """By slice the mean of what is known of the slices before, as one would write it down."""
    made = []
    for t in range(len(cells)):
        first = max(STARTS[t >= STARTS][-1], t - over)
        known = [cell for cell in cells[first:t] if not np.isnan(cell)]
        made.append(np.mean(known) if known else np.nan)
    return np.array(made)


@pytest.mark.parametrize("over", [1, 4, 24])
def test_a_mean_is_that_of_the_slices_before_it_in_its_sequence(over):
    seen = panel()
    (term,) = mean_terms(seen, "x", over)
    expected = (looped(seen.values["x"], over) - term.centre) / term.scale
    np.testing.assert_allclose(term.column(seen), np.nan_to_num(expected), atol=1e-12)
    for each in mean_terms(seen, "kind", over):
        shown = np.where(np.isnan(seen.values["kind"]), np.nan, seen.values["kind"] == each.state)
        np.testing.assert_allclose(each.column(seen), np.nan_to_num(looped(shown, over) - each.centre), atol=1e-12)


def slow(over=6):
    own = (Term("x", 1, centre=3.0, scale=2.0), Term("x", 1, centre=3.0, scale=2.0, over=over))
    law = NumberEmission(
        "x", Family.NORMAL, own, (True, True), np.array([[3.0, 0.5, 0.9]]), np.array([0.01]), np.zeros(1)
    )
    variables = (Variable("x", ("low", "high"), ColumnKind.BINNED, (3.0,)),)
    return RegimeModel(variables, (law,), even_moves(1), "H1")


def test_what_is_drawn_is_what_the_term_says_of_it():
    model = slow()
    drawn = drawn_like(model, panel(holes=False), np.random.default_rng(1))[0]
    law = model.emissions[0]
    told = law.means(Designs(drawn).of(law.terms))[:, 0]
    assert np.abs(drawn.values["x"] - told).max() < 0.05  # (five spreads)


def test_a_row_at_a_time_looks_back_as_far():
    model = slow()
    assert model.lags == 6
    seen = panel()
    logs = model.slice_log_likelihood(seen.take(np.array([2])))
    following = model.filter()
    known = [following.step({"x": value}).log_likelihood for value in seen.values["x"][8:]]
    np.testing.assert_allclose(known, logs, atol=1e-9)


def test_a_memory_of_twenty_slices_is_said_by_means():
    sequences = read_sequences(slow_memory(np.random.default_rng([41, 0])))
    shown = panel_of(sequences, number_columns(sequences))
    rival = rival_columns(Designs(shown), roles_of(shown))
    assert any(term.over for each in rival for term in each.emission.terms)


def test_it_is_kept_in_a_file(tmp_path):
    model, seen = slow(), panel(holes=False)
    lv.write_dynamic(model, tmp_path / "model.json")
    back = lv.read_dynamic(tmp_path / "model.json")
    assert back.emissions[0].terms == model.emissions[0].terms
    np.testing.assert_array_equal(back.slice_log_likelihood(seen), model.slice_log_likelihood(seen))
