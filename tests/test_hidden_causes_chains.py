"""`hidden_causes` as users meet it: inputs, chains, results, checkpoints, and what it refuses."""

import threading
import time

import numpy as np
import pandas as pd
import pytest

from experiments.accuracy import edge_f1, error_path, in_degree_error, structure_error
from leverrier.errors import FormatError, MissingExtraError, OptionError, TableError
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or import chain as chain_module
from leverrier.noisy_or import chain_diagnostics as diagnostics
from leverrier.noisy_or.draws import every
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.noisy_or.signs import read_signs
from leverrier.status import Status

SOURCE = {"epsilon": 0.01, "lam": 0.9, "p": 0.1, "alpha": 3.0}


@pytest.fixture(scope="module")
def simulated():
    return make(n_observed=6, n_causes=4, n_trials=500, seed=0)


@pytest.fixture(scope="module")
def found(simulated):
    """The call of api.md."""
    return hidden_causes(simulated[0], method="gibbs", sweeps=300, chains=2, seed=0)


def same(left, right):
    for name in left.trace:
        np.testing.assert_array_equal(left.trace[name], right.trace[name])
    np.testing.assert_array_equal(left.shared, right.shared)
    np.testing.assert_array_equal(left.posterior, right.posterior)


def test_the_causes_that_made_the_data_are_found(found, simulated):
    _, truth = simulated
    assert structure_error(found.shared, truth.links) < 1
    assert in_degree_error(found.shared, truth.links) < 1
    assert edge_f1(found.best, truth.links) == 1.0
    assert found.expected_count == pytest.approx(4, abs=0.5)
    assert sum(found.count.values()) == pytest.approx(1)
    for name, value in (("epsilon", 0.01), ("lambda", 0.9), ("p", 0.1)):
        low, high = np.quantile(found.kept[name], [0.005, 0.995])
        assert low < value < high


def test_shapes_are_those_of_the_api(found):
    n_causes = found.best.shape[1]
    assert found.links.shape == found.best.shape == (6, n_causes)
    assert found.shared.shape == (6, 6)
    assert found.posterior.shape == (500, n_causes)
    assert set(found.trace) == {"epsilon", "lambda", "p", "alpha", "count", "log_joint"}
    assert all(values.shape == (2, 300) for values in found.trace.values())
    np.testing.assert_array_equal(found.in_degree, np.diag(found.shared))
    assert [c.log_joint for c in found.chains] == sorted((c.log_joint for c in found.chains), reverse=True)
    assert found.to_dict()["expected_count"] == found.expected_count


def test_each_row_gets_the_activity_that_made_it(found, simulated):
    """Matched causes agree with the truth, and the best structure's own exact posterior with the sampled one."""
    x, truth = simulated
    order = [int(np.argmax((found.best == truth.links[:, [k]]).all(axis=0))) for k in range(4)]
    agree = (found.posterior[:, order] > 0.5) == truth.active
    assert agree.mean() > 0.95
    np.testing.assert_allclose(found.posterior, found.model.posterior(x), atol=0.12)


def test_both_methods_and_own_numbers_find_the_same(simulated):
    x, truth = simulated
    for asked in ({"method": "rjmcmc"}, {"per_cause": ("lambda", "p")}):
        run = hidden_causes(x, sweeps=250, chains=1, seed=1, **asked)
        assert structure_error(run.shared, truth.links) < 1, asked


def test_the_answer_does_not_depend_on_the_number_of_jobs(simulated):
    x, _ = simulated
    runs = [hidden_causes(x[:60], sweeps=12, chains=3, seed=5, jobs=jobs) for jobs in (1, 3)]
    same(*runs)
    other = hidden_causes(x[:60], sweeps=12, chains=3, seed=6)
    assert not np.array_equal(runs[0].trace["log_joint"], other.trace["log_joint"])


@pytest.mark.parametrize("asked", [{}, {"method": "rjmcmc"}, {"per_cause": ("lambda", "p")}, {"sampler": "wood2006"}])
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(simulated, tmp_path, monkeypatch, asked):
    x, _ = simulated
    options = {"sweeps": 14, "chains": 2, "seed": 2, "jobs": 1, **asked}
    whole = hidden_causes(x[:80], **options)
    stop_after(monkeypatch, 5)
    cut = hidden_causes(x[:80], **options, checkpoint=tmp_path)
    assert cut.status is Status.INTERRUPTED
    assert cut.trace["count"].shape == (1, 5)  # the second chain never began
    monkeypatch.undo()
    same(hidden_causes(x[:80], **options, checkpoint=tmp_path, resume=True), whole)
    same(hidden_causes(x[:80], **options, checkpoint=tmp_path, resume=True), whole)  # nothing left to do


def stop_after(monkeypatch, sweeps):
    """Interrupt in the middle of recording a sweep: the worst place."""
    genuine, calls = chain_module.record, []

    def record(trace, state, log_joint):
        calls.append(1)
        if len(calls) > sweeps:
            trace["lambda"].append(0.0)
            raise KeyboardInterrupt
        genuine(trace, state, log_joint)

    monkeypatch.setattr(chain_module, "record", record)


def test_a_checkpoint_of_other_signs_or_options_is_refused(simulated, tmp_path):
    x, _ = simulated
    hidden_causes(x[:40], sweeps=3, chains=1, checkpoint=tmp_path)
    with pytest.raises(OptionError, match="other data or options"):
        hidden_causes(x[:41], sweeps=3, chains=1, checkpoint=tmp_path, resume=True)
    with pytest.raises(OptionError, match="other data or options"):
        hidden_causes(x[:40], sweeps=3, chains=1, checkpoint=tmp_path, resume=True, alpha=1.0)
    for slot in tmp_path.iterdir():
        slot.write_bytes(slot.read_bytes()[:100])
    with pytest.raises(FormatError, match="no checkpoint"):
        hidden_causes(x[:40], sweeps=3, chains=1, checkpoint=tmp_path, resume=True)


def test_an_interrupt_during_threads_ends_every_chain_cleanly(simulated, monkeypatch):
    """Ctrl-C reaches the main thread only: chains in other threads must notice and be waited for."""
    x, _ = simulated
    started = threading.Event()

    def parallel(**_):
        def call(tasks):
            def work():
                function, args, kwargs = next(iter(tasks))
                function(*args, **kwargs)

            threading.Thread(target=work).start()
            started.wait(20)
            raise KeyboardInterrupt

        return call

    monkeypatch.setattr("joblib.Parallel", parallel)
    run = hidden_causes(
        x,
        sweeps=10**6,
        chains=2,
        seed=0,
        progress=lambda *_: None,
        split_merge=0,
        jobs=2,
        budget=None,
        warmup=0,
        start=patient(started, monkeypatch),
    )
    assert run.status is Status.INTERRUPTED
    assert run.trace["count"].shape[1] >= 3


def patient(started, monkeypatch):
    genuine = chain_module._sweep

    def sweep(sampler, plan, run, rng):
        genuine(sampler, plan, run, rng)
        if run.n_sweeps == 3:
            started.set()

    monkeypatch.setattr(chain_module, "_sweep", sweep)
    return 0


def test_a_budget_stops_and_says_so(simulated):
    x, _ = simulated
    start = time.monotonic()
    run = hidden_causes(x, sweeps=10**6, chains=2, seed=0, budget=0.5, jobs=1)
    assert time.monotonic() - start < 60
    assert run.status is Status.BUDGET
    assert run.trace["count"].shape[1] < 10**6
    assert run.best.shape[0] == 6


def test_progress_is_told(simulated):
    lines = []
    hidden_causes(simulated[0][:50], sweeps=20, chains=1, progress=lambda line, value: lines.append((line, value)))
    assert [share for _, share in lines] == pytest.approx([j / 20 for j in range(1, 21)])
    assert lines[-1][0].startswith("chain 1: sweep 20 of 20")


def test_a_stuck_chain_is_left_out_and_named(simulated, monkeypatch):
    """One chain held back on purpose: the summary must come from the other."""
    x, _ = simulated
    genuine = chain_module.run_chain

    def run_chain(sampler, how, number, seed, whole):
        run = genuine(sampler, how, number, seed, whole)
        if number == 0:
            run.trace["log_joint"] = [value - 500 for value in run.trace["log_joint"]]
        return run

    monkeypatch.setattr("leverrier.noisy_or.hidden_causes.run_chain", run_chain)
    run = hidden_causes(x, sweeps=60, chains=2, seed=0)
    assert [(c.number, c.used) for c in run.chains] == [(1, True), (0, False)]
    assert any("chain 1 stayed below" in note for note in run.notes)
    assert not run.status.converged


def test_tables_say_which_state_is_yes(simulated):
    x, _ = simulated
    frame = pd.DataFrame(
        {
            "cough": np.where(x[:, 0], "yes", "no"),
            "fever": x[:, 1].astype(bool),
            "mark": np.where(x[:, 2], "seen", "clear"),
            "score": np.arange(len(x)) % 5,
            "never": np.zeros(len(x), int),
        }
    )
    signs = read_signs(frame)
    assert signs.names == ("cough", "fever", "mark")
    np.testing.assert_array_equal(signs.cells, x[:, :3])
    assert any("score" in note for note in signs.notes)
    assert any("never" in note for note in signs.notes)
    assert any("mark" in note and "rarer" in note for note in signs.notes)


def test_weighted_rows_count_as_often_as_they_say():
    from leverrier.data.reading.read_table import read_table

    frame = pd.DataFrame({"a": [1, 0, 1], "b": [1, 0, 0], "n": [3, 5, 2]})
    signs = read_signs(read_table(frame, weights="n"))
    assert signs.cells.shape == (10, 2)
    run = hidden_causes(read_table(frame, weights="n"), sweeps=20, chains=1)
    assert run.posterior.shape[0] == 3
    with pytest.raises(TableError, match="whole numbers"):
        read_signs(read_table(frame.assign(n=[0.5, 1, 1]), weights="n"))


def test_a_table_without_signs_is_refused():
    with pytest.raises(TableError, match="yes/no"):
        hidden_causes(pd.DataFrame({"a": list("xyz"), "b": list("uvw")}))


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "hmc"},
        {"sweeps": 0},
        {"chains": 0},
        {"warmup": 5},
        {"epsilon": 1.5},
        {"alpha": -1.0},
        {"lam": (1.0,)},
        {"per_cause": ("q",)},
        {"per_cause": "p", "p": 0.1},
        {"budget": 0.0},
        {"start": -1},
        {"sampler": "plain"},
        {"decay": 2.0, "method": "rjmcmc"},
        {"split_merge": -1},
    ],
)
def test_options_that_make_no_sense_are_refused(simulated, asked):
    with pytest.raises(OptionError):
        hidden_causes(simulated[0][:20], **{"sweeps": 5, **asked})


@pytest.mark.parametrize("x", [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3), np.full((2, 2), 7)])
def test_arrays_that_are_no_signs_are_refused(x):
    with pytest.raises(TableError):
        hidden_causes(x)


@pytest.mark.parametrize(
    "x", [np.zeros((5, 1)), np.ones((5, 1)), np.full((4, 3), np.nan), np.ones((1, 2)), np.zeros((3, 70))]
)
@pytest.mark.parametrize("method", ["gibbs", "rjmcmc"])
def test_odd_tables_have_an_answer(x, method):
    """One sign, all ones, nothing seen, one row, more signs than a word holds."""
    run = hidden_causes(x, method, sweeps=12, chains=1, seed=0)
    assert np.isfinite(run.trace["log_joint"]).all()
    assert run.shared.shape == (x.shape[1], x.shape[1])
    assert run.posterior.shape == (len(x), run.best.shape[1])


def test_diagnostics_are_arvizs():
    array_stats = pytest.importorskip("arviz_stats.base").array_stats
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=(3, 101)), rng.normal(size=(2, 80)).cumsum(axis=1), rng.poisson(2, (4, 60)) * 1.0):
        expected = float(array_stats.rhat(values, chain_axis=0, draw_axis=1))
        assert diagnostics.r_hat(values) == pytest.approx(expected, rel=1e-6)
        ess = float(array_stats.ess(values, chain_axis=0, draw_axis=1))
        assert diagnostics.effective_samples(values) == pytest.approx(ess)
    assert diagnostics.r_hat(np.ones((2, 10))) == 1.0


def test_without_arviz_the_extra_is_named(found, monkeypatch):
    monkeypatch.setattr(diagnostics, "_arviz", lambda: None)
    assert diagnostics.r_hat(found.kept["lambda"]) < 1.2
    with pytest.raises(MissingExtraError, match="mcmc"):
        diagnostics.effective_samples(found.kept["lambda"])


def test_traces_go_to_arviz(found):
    pytest.importorskip("arviz_base")
    tree = found.to_arviz()
    assert tree["posterior"]["lambda"].shape == (2, 150)


def test_errors_fall_with_sweeps(simulated):
    x, truth = simulated
    run = hidden_causes(x, sweeps=120, chains=1, seed=3, warmup=0, **SOURCE)
    path = error_path(run.draws, truth.links)
    assert path.sweeps[-1] == 120
    assert path.structure[-1] < 1 < path.structure[0]
    assert path.in_degree[-1] < 1 < path.in_degree[0]


def test_long_chains_keep_few_draws():
    assert every(500, 500) == 1
    assert every(10_000, 500) == 10
    assert every(1000, 10**7) == 50


def test_errors_by_hand():
    links = np.array([[1, 0], [1, 1]])
    assert in_degree_error(np.array([[0.5, 0], [0, 2]]), links) == 0.5
    assert structure_error(np.array([[1, 0.25], [0.25, 2]]), links) == 0.75
    assert edge_f1([[0, 1], [1, 1]], links) == 1.0
    assert edge_f1([[1], [1]], links) == pytest.approx(0.8)


def test_new_rows_are_read_as_the_old_ones_were(simulated):
    """Columns in another order, the rarer state now the commoner one, a column missing: the same meaning."""
    x, _ = simulated
    frame = pd.DataFrame(np.where(x, "seen", "clear"), columns=[f"s{i}" for i in range(6)])
    run = hidden_causes(frame, sweeps=150, chains=1, seed=0)
    rows = frame.iloc[:40]
    turned = rows[rows.columns[::-1]]
    np.testing.assert_array_equal(run.posterior_of(turned), run.model.posterior(x[:40]))
    only = frame[frame.s0 == "seen"].iloc[:5]
    np.testing.assert_array_equal(run.posterior_of(only), run.model.posterior(x[only.index]))
    without = np.where(np.arange(6) == 2, np.nan, x[:40].astype(float))
    np.testing.assert_array_equal(run.posterior_of(rows.drop(columns="s2")), run.model.posterior(without))
    with pytest.raises(TableError, match="5 signs"):
        run.posterior_of(x[:, :5])


def test_held_out_rows_are_explained_better_by_causes_than_alone(simulated):
    """Against independent signs of the same rates; and near the truth's own likelihood."""
    x, truth = simulated
    run = hidden_causes(x[:350], sweeps=200, chains=1, seed=0)
    held = run.row_log_likelihoods(x[350:])
    rates = (x[:350].sum(axis=0) + 1) / 352
    alone = np.where(x[350:], np.log(rates), np.log1p(-rates)).sum(axis=1)
    assert held.sum() > alone.sum() + 50
    assert held.sum() > truth.model.log_likelihood(x[350:]) - 15
