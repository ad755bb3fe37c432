"""EM, starts and chains on a Dask cluster: the same bits on any number of workers, also when workers die."""

import os
import signal
import threading

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts import parted_observation
from leverrier.counts.rows import RowsInParts
from leverrier.data import file_parts
from leverrier.data.file_parts import look_at
from leverrier.errors import LeverrierError, MissingExtraError, NetworkError, OptionError, TableError
from leverrier.learning.em import every_start as runs

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
from leverrier.counts.cluster_parts import ClusterParts  # noqa: E402
from leverrier.run.cluster import on_cluster  # noqa: E402
from tests.dask_cluster import alive, running  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # (Dask's own, when workers die)
HIDDEN = {"Disease": 6, "LungParench": 3}
OPTIONS = {"hidden": HIDDEN, "starts": 2, "seed": 1, "max_iterations": 25}


@pytest.fixture(scope="module")
def cluster():
    with running(2) as both:
        yield both


@pytest.fixture(scope="module")
def child(tmp_path_factory):
    network = lv.datasets.network("child")
    path = tmp_path_factory.mktemp("cluster") / "child.parquet"
    lv.write_table(network.sample(3000, seed=2), path)
    return network, path


@pytest.fixture(autouse=True)
def small_parts_are_asked(monkeypatch):
    monkeypatch.setattr(file_parts, "PART", 700)
    monkeypatch.setattr(parted_observation, "FEW_ROWS", 0)


def same(first, second):
    """To the last bit."""
    return (
        first.log_likelihood == second.log_likelihood
        and first.trace == second.trace
        and all(np.array_equal(first.network.cpt(v), second.network.cpt(v)) for v in second.network.variables)
    )


@pytest.fixture(scope="module")
def on_disk(child):
    """The fit to parts that wait on disk."""
    network, path = child
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_parts, "PART", 700)
        patch.setattr(parted_observation, "FEW_ROWS", 0)
        states = {name: labels for name, labels in network.states.items() if name not in HIDDEN}
        return lv.fit(network, RowsInParts(look_at(path, states=states)), **OPTIONS)


def test_a_fit_is_that_of_one_machine(cluster, child, on_disk):
    network, path = child
    there, here = lv.fit(network, path, client=cluster[1], **OPTIONS), lv.fit(network, path, **OPTIONS)
    assert same(there, on_disk)
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-9)
    assert there.score == pytest.approx(here.score, rel=1e-9)
    np.testing.assert_allclose(there.trace, here.trace, rtol=1e-9)
    for node in network.variables:
        np.testing.assert_allclose(there.network.cpt(node), here.network.cpt(node), atol=1e-7)


@pytest.mark.parametrize("workers", [1, 4])
def test_the_number_of_workers_changes_no_bit(child, on_disk, workers):
    with running(workers) as (_, client):
        assert same(lv.fit(*child, client=client, **OPTIONS), on_disk)


def test_few_rows_are_brought_here(cluster, child, on_disk, monkeypatch):
    monkeypatch.setattr(parted_observation, "FEW_ROWS", 2**18)
    asked = []
    monkeypatch.setattr(ClusterParts, "keep", lambda *about: asked.append(about))
    there = lv.fit(*child, client=cluster[1], **OPTIONS)
    assert not asked
    assert there.log_likelihood == pytest.approx(on_disk.log_likelihood, rel=1e-9)


def test_workers_that_die_change_no_bit(cluster, child, on_disk):
    local, client = cluster
    fitted, kills = threading.Event(), []

    def kill():
        while not fitted.wait(0.7) and len(kills) < 6:
            workers = alive(local)
            if workers:
                worker = workers[len(kills) % len(workers)]
                os.kill(worker.pid, signal.SIGKILL)
                kills.append(worker.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        found = [lv.fit(*child, client=client, **OPTIONS) for _ in range(2)]
    finally:
        fitted.set()
        thread.join()
    assert len(kills) > 1
    assert all(same(each, on_disk) for each in found)


def test_latent_classes_are_those_of_one_machine(cluster, child):
    path = child[1].with_name("few.parquet")
    lv.write_table(child[0].sample(1500, seed=1).select(["Disease", "Age", "Sick", "CO2Report"]), path)
    options = {"states": [1, 2], "starts": 2, "max_iterations": 30}
    there, here = lv.latent_classes(path, client=cluster[1], **options), lv.latent_classes(path, **options)
    for ours, theirs in zip(there.table, here.table, strict=True):
        assert ours.log_likelihood == pytest.approx(theirs.log_likelihood, rel=1e-9)
        assert ours.entropy == pytest.approx(theirs.entropy, rel=1e-6)
        assert ours.g2 == pytest.approx(theirs.g2, rel=1e-6)


@pytest.mark.parametrize("keep", [None, 1])
def test_starts_on_workers_end_where_they_end_here(cluster, child, monkeypatch, keep):
    monkeypatch.setattr(runs, "WORTH_SENDING", 0)
    network, path = child
    table = lv.read_table(path).drop(*HIDDEN)
    told = []
    options = {**OPTIONS, "starts": 3, "keep": keep, "progress": lambda line, _: told.append(line)}
    there, here = (lv.fit(network, table, client=client, **options) for client in (cluster[1], None))
    assert same(there, here)
    assert there.starts == here.starts
    assert sorted(told[: len(told) // 2]) == sorted(told[len(told) // 2 :])
    assert np.array_equal(there.posterior("Disease"), here.posterior("Disease"))


@pytest.mark.parametrize("method", ["gibbs", "rjmcmc"])
def test_chains_on_workers_are_those_here(cluster, method):
    x, _ = lv.datasets.hidden_causes(n_observed=5, n_causes=2, n_trials=100, seed=0)
    there, here = (lv.hidden_causes(x, method, 30, 3, 1, client=client) for client in (cluster[1], None))
    assert there.count == here.count
    assert all(np.array_equal(there.trace[name], here.trace[name], equal_nan=True) for name in here.trace)
    assert np.array_equal(there.posterior, here.posterior)


def test_mistakes_are_said(cluster, child, tmp_path, monkeypatch):
    network, path = child
    client = cluster[1]
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    asks = (lambda given: lv.fit(network, given, client=client), lambda given: lv.latent_classes(given, client=client))
    for ask in asks:
        with pytest.raises(OptionError, match="a cluster reads Parquet"):
            ask(tmp_path / "t.csv")
        with pytest.raises(TableError, match="there is no such file"):
            ask(tmp_path / "t.parquet")
    with pytest.raises(OptionError, match="no Dask scheduler answers at"):
        lv.fit(network, path, client="nowhere://")
    with pytest.raises(OptionError, match=r"expected a dask\.distributed\.Client or its address"):
        lv.latent_classes(path, client=17)
    with pytest.raises(NetworkError, match="the names must agree"):
        lv.fit(lv.Graph.from_edges(("H", "J"), [("H", "J")]), path, hidden={"H": 2}, client=client)
    with pytest.raises(OptionError, match="checkpoint= saves chains that run here"):
        lv.hidden_causes(np.eye(6), client=client, checkpoint=tmp_path)
    file = look_at(path)
    (tmp_path / "gone.parquet").write_bytes(b"")
    with pytest.raises(TableError, match=r"gone\.parquet|every worker sees"):
        lv.fit(network, tmp_path / "gone.parquet", client=client)
    monkeypatch.setattr(type(file), "ranges", lambda _: [(0, 10)])
    moved = file.only(["Age"])
    object.__setattr__(moved, "path", str(tmp_path / "elsewhere.parquet"))
    with pytest.raises(TableError, match="give a path that every worker sees"):
        ClusterParts(client, moved)


def test_a_closed_client_is_said(cluster, child):
    client = distributed.Client(cluster[0].scheduler_address, set_as_default=False)
    found = lv.fit(*child, client=client, **OPTIONS)
    client.close()
    for ask in (lambda: found.score, lambda: lv.fit(*child, client=client), lambda: on_cluster(client, max, [(1, 2)])):
        with pytest.raises(LeverrierError, match="the Dask client is closed"):
            ask()


def test_without_dask_it_is_said(child, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install leverrier\[cluster\]"):
        lv.fit(*child, client="tcp://10.0.0.1:8786")
