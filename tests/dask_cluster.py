"""A Dask cluster on this machine, kept up as a cluster's keepers do."""

import threading
from contextlib import contextmanager

import pytest

distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")

PATIENCE = 5


@contextmanager
def running(workers):
    """The cluster and its client."""
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        done = threading.Event()
        keeper = threading.Thread(target=_keep_up, args=(local, client, done))
        keeper.start()
        try:
            yield local, client
        finally:
            done.set()
            keeper.join()


def _keep_up(local, client, done):
    """Where workers die in quick succession on a busy machine, Dask's nannies give up: another is started, long before
    our own code gives up on the cluster."""
    without = 0
    while not done.wait(1.0):
        without = 0 if client.nthreads() else without + 1
        if without == PATIENCE:
            local.scale(len(local.worker_spec) + 1)
            without = 0


def alive(local):
    """Nannies with a worker."""
    return [each for each in local.workers.values() if each.status == distributed.Status.running and each.pid]
