"""On a Dask cluster: the same counts and the same answers as on one machine, also when workers die."""

import os
import signal
import time

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_counts import PartedCounts, gathered, projected
from leverrier.data import file_parts
from leverrier.data.file_parts import look_at
from leverrier.errors import OptionError

pytest.importorskip("distributed", reason="the cluster extra is not installed")
import leverrier.run.cluster as cluster_module
from leverrier.counts.cluster_parts import ClusterParts
from leverrier.run.cluster import connect, on_cluster
from tests.dask_cluster import alive, running

pytestmark = pytest.mark.filterwarnings("ignore")  # (Dask's own, when workers die)


@pytest.fixture(scope="module")
def cluster():
    with running(2) as both:
        yield both


@pytest.fixture(scope="module")
def child(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "child.parquet"
    lv.write_table(lv.datasets.network("child").sample(3000, seed=2), path)
    return path


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(file_parts, "PART", 700)


def kill_one(local):
    """The process of some worker, at once; its nanny starts another."""
    os.kill(alive(local)[0].pid, signal.SIGKILL)


def test_counts_are_those_of_one_machine_also_after_a_worker_died(cluster, child):
    local, client = cluster
    whole = lv.read_table(child)
    counts, here = PartedCounts(ClusterParts(client, look_at(child))), ObservedCounts(whole)
    families = [Family("Age", ("Disease",)), Family("Disease"), Family("CO2Report", ("LungParench", "CO2"))]
    wanted = np.ones(len(whole.variables) + 1, dtype=bool)
    wanted[[0, 3]] = False
    for _ in range(2):
        assert counts.cardinalities == here.cardinalities
        assert counts.total == here.total
        for ours, theirs in zip(counts.tables(families), here.tables(families), strict=True):
            assert np.array_equal(ours, theirs)
        ours, theirs = counts.expand(0, [3], wanted), here.expand(0, [3], wanted, keep_empty=True)
        for v in np.flatnonzero(wanted):
            part, whole_part = (counts[starts[v] : starts[v + 1]] for counts, starts in (ours, theirs))
            assert np.array_equal(part, whole_part)
        kill_one(local)


def test_projections_and_all_rows_come_together(cluster, child):
    file = look_at(child)
    parts = ClusterParts(cluster[1], file)
    whole = lv.read_table(child)
    assert len(file.ranges()) == 5
    together, distinct = gathered(parts, file), whole.distinct()
    assert np.array_equal(together.codes, distinct.codes)
    assert np.array_equal(together.weights, distinct.weights)
    names = ("Disease", "Age", "Sick")
    ours, theirs = projected(parts, names), whole.project(names)
    assert np.array_equal(ours.configurations, theirs.configurations)
    assert np.array_equal(ours.weights, theirs.weights)


def test_structure_is_the_same(cluster, child):
    there = lv.learn_structure(child, method="ges", client=cluster[1])
    here = lv.learn_structure(child, method="ges")
    assert there.graph == here.graph
    assert there.score == pytest.approx(here.score, abs=1e-7)
    assert all(np.array_equal(there.network.cpt(v), here.network.cpt(v)) for v in here.network.variables)


def _slow(number, seconds):
    time.sleep(seconds)
    return number * number


def test_calls_survive_the_workers_that_run_them(cluster):
    local, client = cluster
    kill_one(local)
    assert on_cluster(client, _slow, [(number, 0.1) for number in range(6)]) == [0, 1, 4, 9, 16, 25]


def _fatal(folder, deaths):
    """Takes so many workers with it before it answers."""
    died = len(os.listdir(folder))
    if died < deaths:
        (folder / str(died)).touch()
        os._exit(1)
    return 5


def test_what_dask_gives_up_on_is_begun_again(cluster, tmp_path):
    part = cluster[1].submit(_fatal, tmp_path, 5, pure=False)  # (Dask gives up after four)
    assert on_cluster(cluster[1], max, [(part, 1), (part, 7)]) == [5, 7]


def test_discover_is_the_same(cluster, tmp_path):
    network = lv.datasets.network("asia")
    path = tmp_path / "asia.parquet"
    lv.write_table(network.sample(1500, seed=4).drop("either"), path)
    options = {"method": "network", "draws": 2, "resamples": 2, "max_hidden": 1, "seed": 1}
    here, there = lv.discover(path, **options), lv.discover(path, client=cluster[1], **options)
    assert str(there.verdict) == str(here.verdict)
    assert there.network.graph == here.network.graph
    assert there.gain == pytest.approx(here.gain, abs=1e-6)


def test_what_a_cluster_cannot_read_is_said(cluster, tmp_path):
    with pytest.raises(OptionError, match="a cluster reads Parquet"):
        lv.learn_structure({"a": [1, 2]}, client=cluster[1])
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OptionError, match="a cluster reads Parquet"):
        lv.discover(tmp_path / "t.csv", client=cluster[1])


def test_who_does_not_answer_is_said():
    with pytest.raises(OptionError, match=r"expected a dask\.distributed\.Client or its address"):
        connect(17)
    for address in ("nowhere://", "", "tcp://127.0.0.1", "tcp://:port"):
        with pytest.raises(OptionError, match="no Dask scheduler answers at"):
            connect(address)


class Slow:
    """A task that is done after so many looks, on a cluster with so many workers."""

    address = "tcp://10.0.0.1:8786"

    def __init__(self, looks, workers):
        self.looks, self.workers, self.scheduler = looks, workers, self

    def result(self, timeout):
        self.looks -= 1
        if self.looks >= 0:
            time.sleep(timeout)
            raise TimeoutError
        return "done"

    def nthreads(self):
        return dict.fromkeys(range(self.workers), 1)


def test_a_cluster_without_workers_is_given_up_and_a_slow_one_is_not(monkeypatch):
    monkeypatch.setattr(cluster_module, "LOOK", 0.001)
    monkeypatch.setattr(cluster_module, "LONELY", 0.02)
    busy = Slow(looks=100, workers=2)
    assert cluster_module._awaited(busy, busy) == "done"
    lost = Slow(looks=10_000, workers=0)
    with pytest.raises(lv.LeverrierError, match=r"no worker for .* start some"):
        cluster_module._awaited(lost, lost)
