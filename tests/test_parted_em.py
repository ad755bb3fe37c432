"""EM over the parts of a file: the E-step against enumeration, fits against those of the rows in memory."""

import pickle
import threading

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts import observation, parted_observation
from leverrier.counts.parted_expectation import PartedPlan, Passes
from leverrier.counts.rows import RowsInParts
from leverrier.data import encoded_cells as cells
from leverrier.data import file_parts
from leverrier.data import memory_limit as memory
from leverrier.data.file_parts import look_at
from leverrier.data.reading import scanning
from leverrier.data.table import Table
from leverrier.errors import NetworkError, OptionError, TableError, TooLargeError
from leverrier.inference.exact import group_trees as trees
from leverrier.inference.exact import groups
from leverrier.learning.em import cheeseman_stutz
from leverrier.learning.em.fit_task import make_task
from leverrier.learning.em.network_em import ParameterClimb
from leverrier.learning.em.pairing import observation_of, pairing_of
from leverrier.learning.em.starting_points import random_start
from tests.naive.em import em_step, expected_table, log_likelihood
from tests.naive.networks import random_network


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(file_parts, "PART", 14)


@pytest.fixture(params=["few rows brought here", "parts asked"])
def way(request, monkeypatch):
    monkeypatch.setattr(parted_observation, "FEW_ROWS", 0 if request.param == "parts asked" else 2**18)
    return request.param


def random_file(rng, path, n_rows=40):
    """A random network and rows with holes in a file, their codes (−1: hole), and which variables are hidden."""
    network = random_network(rng, int(rng.integers(3, 7)))
    names = network.variables
    codes = np.stack([rng.integers(0, network.cardinality(name), n_rows) for name in names])
    hidden = rng.random(len(names)) < 0.3
    hidden[rng.integers(len(names))] = False
    codes[rng.random(codes.shape) < rng.choice([0.0, 0.2])] = -1
    codes[rng.integers(len(names)), :14] = -1  # nothing of it in the first part
    codes[hidden] = -1
    shown = np.flatnonzero(~hidden)
    lv.write_table(Table.from_codes({names[v]: network.states[names[v]] for v in shown}, codes[shown]), path)
    return network, codes


def test_the_e_step_equals_enumeration(tmp_path, way):
    rng = np.random.default_rng(5)
    for number in range(9):
        path = tmp_path / f"{number}.parquet"
        network, codes = random_file(rng, path)
        seen = pairing_of(network, RowsInParts(look_at(path, states=network.states)))
        plan = seen.plan(prune=False)
        assert isinstance(plan, PartedPlan) == (way == "parts asked")
        theta = seen.layout.pack([network.cpt(node) for node in seen.open_nodes])
        score, counts = cheeseman_stutz.completed_score(seen, plan, theta, lv.BDe())
        ones = np.ones(codes.shape[1])
        for node, found in zip(seen.open_nodes, seen.layout.unpack(counts), strict=True):
            wanted = expected_table(network, codes, ones, node, network.parents(node))
            np.testing.assert_allclose(found, wanted, atol=1e-10)
        for node, found in zip(seen.closed_nodes, seen.closed_counts, strict=True):
            wanted = expected_table(network, codes, ones, node, network.parents(node))
            np.testing.assert_allclose(found, wanted, atol=1e-10)
        whole = observation_of(network, path)
        assert seen.hidden == whole.hidden
        assert score == pytest.approx(cheeseman_stutz.observed_score(network, whole, lv.BDe()), abs=1e-9)


@pytest.mark.usefixtures("way")
def test_a_step_of_em_equals_enumeration(tmp_path):
    rng = np.random.default_rng(8)
    for number in range(6):
        path = tmp_path / f"{number}.parquet"
        network, codes = random_file(rng, path)
        rows = RowsInParts(look_at(path, states=network.states))
        found = lv.fit(network, rows, initial=network, max_iterations=1, accelerate=False, prior=0.5)
        wanted = em_step(network, codes, np.ones(codes.shape[1]), prior=0.5)
        for node in network.variables:
            np.testing.assert_allclose(found.network.cpt(node), wanted.cpt(node), atol=1e-9)
        assert found.log_likelihood == pytest.approx(log_likelihood(wanted, codes, np.ones(codes.shape[1])), abs=1e-8)


@pytest.fixture(scope="module")
def child(tmp_path_factory):
    """Rows of a network with holes, in a file."""
    network = lv.datasets.network("child")
    table = network.sample(900, seed=2)
    codes = table.codes.copy()
    codes[np.random.default_rng(0).random(codes.shape) < 0.02] = table.missing
    path = tmp_path_factory.mktemp("parted") / "child.parquet"
    lv.write_table(Table(table.columns, codes), path)
    return network, path


HIDDEN = {"Disease": 6, "LungParench": 3}


def limited(monkeypatch):
    """Files go the way of tall ones, and the program itself takes no memory."""
    monkeypatch.setattr(scanning, "_TALL", 0)
    monkeypatch.setattr(cells, "BATCH", 800)
    monkeypatch.setattr(memory, "PROGRAM", 0)
    monkeypatch.setattr(file_parts, "PART", 250)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("method", ["em", "vb"])
def test_a_fit_needs_no_rows_in_memory(child, method, monkeypatch):
    limited(monkeypatch)
    network, path = child
    with pytest.raises(TooLargeError):
        lv.read_table(path, max_memory="30kB")
    options = {"hidden": HIDDEN, "starts": 3, "seed": 1, "max_iterations": 40, "method": method}
    whole, parts = lv.fit(network, path, **options), lv.fit(network, path, max_memory="30kB", **options)
    assert parts.table.n_rows == 0
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
    assert parts.score == pytest.approx(whole.score, rel=1e-9)
    assert parts.bic == pytest.approx(whole.bic, rel=1e-9)
    np.testing.assert_allclose(parts.trace, whole.trace, rtol=1e-9)
    for ours, theirs in zip(parts.starts, whole.starts, strict=True):
        assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-9)
    for node in network.variables:
        np.testing.assert_allclose(parts.network.cpt(node), whole.network.cpt(node), atol=1e-6)


@pytest.mark.usefixtures("way")
def test_the_best_of_several_starts_goes_on(child, monkeypatch):
    limited(monkeypatch)
    network, path = child
    options = {"hidden": HIDDEN, "starts": 4, "keep": 2, "seed": 1, "max_iterations": 50}
    whole, parts = lv.fit(network, path, **options), lv.fit(network, path, max_memory="30kB", **options)
    assert [run.iterations for run in parts.starts] == [run.iterations for run in whole.starts]
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)


@pytest.mark.usefixtures("way")
def test_latent_classes_need_no_rows_in_memory(child, monkeypatch):
    limited(monkeypatch)
    network, path = child
    complete = path.with_name("complete.parquet")
    lv.write_table(network.sample(800, seed=1).select(["Disease", "Age", "Sick", "CO2Report", "Grunting"]), complete)
    for file, limit in ((path, "30kB"), (complete, "4kB")):
        options = {"states": [1, 2, 3], "starts": 3}
        whole, parts = lv.latent_classes(file, **options), lv.latent_classes(file, max_memory=limit, **options)
        assert parts.fit.table.n_rows == 0
        assert parts.states == whole.states
        assert str(parts).splitlines()[0] == str(whole).splitlines()[0]
        for ours, theirs in zip(parts.table, whole.table, strict=True):
            assert (ours.g2 is None) == (file == path)
            for name in ("log_likelihood", "bic", "entropy", "smallest_class", "g2", "x2"):
                if getattr(theirs, name) is not None:
                    assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-6), name
    for asked in ({"bootstrap": 2}, {"errors": 2}):
        with pytest.raises(OptionError, match="rows stay in parts"):
            lv.latent_classes(complete, max_memory="4kB", **asked)


def test_a_budget_ends_after_the_pass_that_runs(child, monkeypatch):
    limited(monkeypatch)
    monkeypatch.setattr(parted_observation, "FEW_ROWS", 0)
    found = lv.fit(child[0], child[1], hidden=HIDDEN, max_memory="30kB", budget=1e-3)
    assert str(found.status) == str(lv.Status.BUDGET)
    assert max(run.iterations for run in found.starts) <= 2


def test_one_pass_serves_all_who_wait():
    asked = []

    def ask(thetas):
        asked.append(len(thetas))
        return [(float(theta.sum()), theta * 2) for theta in thetas]

    passes = Passes(ask)
    everyone, found = threading.Barrier(4), {}

    def climb(number):
        with passes.joined():
            everyone.wait()
            for step in range(10 + number):  # some end before others
                value, doubled = passes(np.array([float(number), step]))
                found[number, step] = value == number + step and doubled.tolist() == [2.0 * number, 2.0 * step]

    threads = [threading.Thread(target=climb, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(found) == 46
    assert all(found.values())
    assert asked == [4] * 10 + [3, 2, 1]


def test_what_goes_wrong_in_a_pass_reaches_all_who_wait():
    def ask(_):
        raise OSError("the disk is gone")

    passes, everyone, heard = Passes(ask), threading.Barrier(2), []

    def climb():
        with passes.joined():
            everyone.wait()
            with pytest.raises(OSError, match="the disk is gone") as problem:
                passes(np.zeros(1))
            heard.append(problem)

    threads = [threading.Thread(target=climb) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(heard) == 2


def test_what_parts_cannot_do_is_said(child, tmp_path, monkeypatch):
    limited(monkeypatch)
    network, path = child
    rows = RowsInParts(look_at(path).only(["Disease", "Age", "Sick"]))
    star = lv.Graph.from_edges(("H", "Disease", "Age", "Sick"), [("H", v) for v in ("Disease", "Age", "Sick")])
    found = lv.fit(star, rows, hidden={"H": 2}, starts=1, max_iterations=3)
    with pytest.raises(OptionError, match=r"rows stayed in parts of a file; network\.posterior"):
        found.posterior("H")
    with pytest.raises(OptionError, match="rows stayed in parts"):
        found.expected_counts()
    with pytest.raises(OptionError, match="rows in parts of a file have no order"):
        lv.fit(star, rows, hidden={"H": 2}, initial={"H": [0, 1]})
    with pytest.raises(NetworkError, match="'J' is no column of the data"):
        lv.fit(lv.Graph.from_edges(("H", "J", "Age"), [("H", "J")]), rows, hidden={"H": 2})
    with pytest.raises(NetworkError, match="the names must agree"):
        lv.fit(lv.Graph.from_edges(("H", "J"), [("H", "J")]), rows, hidden={"H": 2})
    lv.write_table(lv.read_table({"Disease": ["a", "b"]}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"column 'Disease' holds .* none of its states"):
        pairing_of(network, RowsInParts(look_at(tmp_path / "t.parquet", states=network.states)))
    monkeypatch.setattr(trees, "MOST_CELLS", 1)
    monkeypatch.setattr(parted_observation, "FEW_ROWS", 0)
    with pytest.raises(TooLargeError, match="too many unobserved variables hang together"):
        lv.fit(network, RowsInParts(look_at(path).only(["Age", "Sick"])), method="vb")


@pytest.mark.parametrize("approximate", [False, True])
def test_climbers_go_on_in_another_process_as_they_stood(approximate, monkeypatch):
    """Approximate posteriors too are carried on from one E-step to the next."""
    if approximate:
        monkeypatch.setattr(trees, "MOST_CELLS", 1)
        monkeypatch.setattr(groups, "LARGEST_JOINT", 1)
        monkeypatch.setattr(observation, "LARGEST_JOINT", 1)
    network = lv.datasets.network("asia")
    data = network.sample(400, seed=3).drop("either", "tub")
    seen = observation_of(network, data)
    objective = make_task(seen, 1.0, False).objective
    point = random_start(seen, seen.open_counts, np.random.default_rng(1), first=False)
    here = ParameterClimb(objective, point, tolerance=1e-6)
    there = ParameterClimb(objective, point, tolerance=1e-6)
    for _ in range(4):
        ours, _ = here.climb(5)
        there = pickle.loads(pickle.dumps(there)).attached(objective)
        theirs, _ = there.climb(5)
        assert np.array_equal(ours, theirs)
    assert np.array_equal(here.theta, there.theta)
    assert np.array_equal(here.counts, there.counts)
