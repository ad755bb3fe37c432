"""The same answer on one machine, on 1, 2 and 4 workers, and while workers are killed.

python benchmarks/cluster.py workers FILE.parquet [--sample N]     # local, then 1, 2, 4 worker processes
python benchmarks/cluster.py kills FILE.parquet [--kills 20]       # two workers, one of them killed every few moments

FILE is made by `benchmarks/large.py make`. Every line has a digest of the network, its probabilities and the score.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import leverrier as lv
from leverrier.data import parts


def digest(network, score: float) -> str:
    """Of arcs, probabilities and score, to the last bit."""
    found = hashlib.sha256()
    for node in network.variables:
        found.update(repr((node, network.parents(node))).encode())
        found.update(network.cpt(node).tobytes())
    found.update(float(score).hex().encode())
    return found.hexdigest()[:16]


@contextmanager
def workers(count: int):
    import logging

    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        yield local, client


def structure(path: str, client=None) -> dict:
    begun = time.perf_counter()
    found = lv.learn_structure(path, lv.BDe(), client=client)
    return {"what": "structure", "digest": digest(found.network, found.score), "score": found.score,
            "seconds": time.perf_counter() - begun}  # fmt: skip


def discover(path: str, sample: int, client=None) -> dict:
    """With two null draws and two resamples: that they run elsewhere is what is looked at, not what they say."""
    begun = time.perf_counter()
    found = lv.discover(path, method="network", draws=2, resamples=2, max_hidden=1, sample=sample, client=client)
    null = [gain.hex() for each in found.hidden for gain in each.evidence.null_gains]
    support = [each.evidence.support for each in found.hidden]
    return {"what": "discover", "digest": digest(found.network, found.gain), "null": null, "support": support,
            "verdict": found.verdict, "seconds": time.perf_counter() - begun}  # fmt: skip


def say(**line) -> None:
    print(json.dumps({**line, "load": os.getloadavg()[0]}), flush=True)


def compare(path: str, sample: int | None) -> None:
    works = [lambda client=None: structure(path, client)]
    if sample:
        works.append(lambda client=None: discover(path, sample, client))
    lv.learn_structure(lv.datasets.network("asia").sample(500, seed=0))  # compile
    for work in works:
        say(workers="local", **work())
    for count in (1, 2, 4):
        with workers(count) as (_, client):
            for work in works:
                say(workers=count, **work(client))


@contextmanager
def watched_workers(count: int):
    """Workers as processes of their own, started again when they die, as a cluster's own keepers do."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=0, dashboard_address=":0") as local, Client(local) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address, "--nthreads", "1",
                   "--no-nanny", "--no-dashboard"]  # fmt: skip
        running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(count)]
        client.wait_for_workers(count)

        def kill(number: int) -> None:
            running[number].kill()
            running[number].wait()
            running[number] = subprocess.Popen(command, stderr=subprocess.DEVNULL)

        try:
            yield client, kill
        finally:
            for each in running:
                each.kill()
                each.wait()


def kill_while_running(path: str, kills: int, every: float) -> None:
    """Runs one after another until so many workers were killed; every answer must be the first one's."""
    truth = structure(path)["digest"]
    done, digests = [0], []
    rng = random.Random(0)
    with watched_workers(2) as (client, kill):
        stop = threading.Event()

        def go() -> None:
            while done[0] < kills and not stop.wait(rng.uniform(0.5 * every, 1.5 * every)):
                kill(rng.randrange(2))
                done[0] += 1

        thread = threading.Thread(target=go)
        thread.start()
        try:
            while done[0] < kills:
                before = done[0]
                answer = structure(path, client)
                digests.append(answer["digest"])
                say(run=len(digests), killed_meanwhile=done[0] - before, same=answer["digest"] == truth, **answer)
        finally:
            stop.set()
            thread.join()
    say(kills=done[0], runs=len(digests), same=sum(each == truth for each in digests))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["workers", "kills"])
    parser.add_argument("path")
    parser.add_argument("--sample", type=int, default=None)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--every", type=float, default=12.0, help="seconds between kills, on average")
    parser.add_argument("--part", type=int, default=parts.PART, help="rows of a part")
    asked = parser.parse_args()
    parts.PART = asked.part
    if asked.what == "workers":
        compare(asked.path, asked.sample)
    else:
        kill_while_running(asked.path, asked.kills, asked.every)


if __name__ == "__main__":
    main()
