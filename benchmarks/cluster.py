"""The same answer on one machine, on 1, 2 and 4 workers, and while workers are killed.

python benchmarks/cluster.py workers FILE.parquet [--sample N]     # local, then 1, 2, 4 worker processes
python benchmarks/cluster.py em FILE.parquet [--part 100000]       # EM: memory, parts on disk, 1, 2, 4 worker processes
python benchmarks/cluster.py kills FILE.parquet [--kills 20]       # two workers, one of them killed every few moments
                                                [--of em --few 0]  # while EM asks the parts

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
from leverrier.counts import parted_observation
from leverrier.data import file_parts as parts


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
    return {
        "what": "structure",
        "digest": digest(found.network, found.score),
        "score": found.score,
        "seconds": time.perf_counter() - begun,
    }


def discover(path: str, sample: int, client=None) -> dict:
    """With two null draws and two resamples: that they run elsewhere is what is looked at, not what they say."""
    begun = time.perf_counter()
    found = lv.discover(path, method="network", draws=2, resamples=2, max_hidden=1, sample=sample, client=client)
    null = [gain.hex() for each in found.hidden for gain in each.evidence.null_gains]
    support = [each.evidence.support for each in found.hidden]
    return {
        "what": "discover",
        "digest": digest(found.network, found.gain),
        "null": null,
        "support": support,
        "verdict": found.verdict,
        "seconds": time.perf_counter() - begun,
    }


def classes(rows, client=None) -> dict:
    """Four classes behind all columns: every distinct row has its own posterior, so every E-step asks every part."""
    begun = time.perf_counter()
    found = lv.latent_classes(rows, states=4, starts=3, max_iterations=30, tolerance=1e-9, client=client).fit
    return {
        "what": "em, classes",
        "digest": digest(found.network, found.log_likelihood),
        "log_likelihood": found.log_likelihood,
        "iterations": [run.iterations for run in found.starts],
        "seconds": time.perf_counter() - begun,
    }


def blanket(rows, client=None) -> dict:
    """One hidden variable among observed ones: EM looks at a few columns, whose distinct rows are brought here."""
    begun = time.perf_counter()
    alarm = lv.datasets.network("alarm")
    found = lv.fit(alarm, rows, hidden={"INTUBATION": 3}, starts=3, seed=1, client=client)
    return {
        "what": "em, blanket",
        "digest": digest(found.network, found.log_likelihood),
        "log_likelihood": found.log_likelihood,
        "iterations": [run.iterations for run in found.starts],
        "seconds": time.perf_counter() - begun,
    }


def compare_em(path: str) -> None:
    from leverrier.counts.rows import RowsInParts

    lv.latent_classes(lv.datasets.network("asia").sample(500, seed=0), states=2, starts=2)  # compile
    known = {name: labels for name, labels in lv.datasets.network("alarm").states.items() if name != "INTUBATION"}
    for work in (classes, blanket):
        say(workers="memory", **work(path))
    for work, states in ((classes, None), (blanket, known)):
        begun = time.perf_counter()
        rows = RowsInParts(parts.look_at(path, states=states))
        say(workers="disk", parted=time.perf_counter() - begun, **work(rows))
    for count in (1, 2, 4):
        with workers(count) as (_, client):
            for work in (classes, blanket):
                say(workers=count, **work(path, client))


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
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            local.scheduler_address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
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


def kill_while_running(path: str, kills: int, every: float, of: str) -> None:
    """Runs one after another until so many workers were killed; every answer must be the first one's."""
    from leverrier.counts.rows import RowsInParts

    work = {"structure": structure, "em": classes}[of]
    truth = work(path if of == "structure" else RowsInParts(parts.look_at(path)))["digest"]
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
                answer = work(path, client)
                digests.append(answer["digest"])
                say(run=len(digests), killed_meanwhile=done[0] - before, same=answer["digest"] == truth, **answer)
        finally:
            stop.set()
            thread.join()
    say(kills=done[0], runs=len(digests), same=sum(each == truth for each in digests))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["workers", "em", "kills"])
    parser.add_argument("path")
    parser.add_argument("--sample", type=int, default=None)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--of", choices=["structure", "em"], default="structure")
    parser.add_argument("--every", type=float, default=12.0, help="seconds between kills, on average")
    parser.add_argument("--part", type=int, default=parts.PART, help="rows of a part")
    parser.add_argument("--few", type=int, default=parted_observation.FEW_ROWS, help="distinct rows brought here")
    asked = parser.parse_args()
    parts.PART, parted_observation.FEW_ROWS = asked.part, asked.few
    if asked.what == "workers":
        compare(asked.path, asked.sample)
    elif asked.what == "em":
        compare_em(asked.path)
    else:
        kill_while_running(asked.path, asked.kills, asked.every, asked.of)


if __name__ == "__main__":
    main()
