"""ALARM with INTUBATION hidden, ten thousand to a hundred million rows: time, memory, and what is found.

python benchmarks/large.py make 10000000 FOLDER      # alarm_10000000.parquet, rows drawn and written in batches
python benchmarks/large.py structure FOLDER          # the network of the observed columns, by number of rows
python benchmarks/large.py search FOLDER ROWS        # hidden variables, untested
python benchmarks/large.py discover FOLDER ROWS      # hidden variables with all tests
python benchmarks/large.py rate FOLDER ROWS          # rows a second when a file is streamed into its distinct rows
python benchmarks/large.py plot FOLDER OUTPUT.svg    # what structure and discover measured

Each measurement is a process of its own; seconds are of the wall and of the processors, memory is the peak of the
process and of its largest child.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HIDDEN = "INTUBATION"
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
BATCH = 250_000
WORDS = {"search": "hidden variables", "discover": "hidden variables, tested"}


def make(rows: int, folder: Path) -> Path:
    """Draw and write in batches, so that no more than one is in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import leverrier as lv

    network = lv.datasets.network("alarm")
    names = [name for name in network.variables if name != HIDDEN]
    path = folder / f"alarm_{rows}.parquet"
    writer = None
    for number, seed in enumerate(np.random.SeedSequence(5).spawn(-(-rows // BATCH))):
        size = min(BATCH, rows - number * BATCH)
        table = network.sample(size, seed=np.random.default_rng(seed)).select(names)
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(table.column(name)), pa.array(list(table.states[name])))
            for name in names
        }
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()
    return path


def structure(path: Path) -> dict:
    import leverrier as lv

    lv.learn_structure(lv.datasets.network("asia").sample(9_000, seed=0), lv.BDe())  # compile
    table, read = clocked(lambda: lv.read_table(path))
    counted, distinct = clocked(table.distinct)
    del table
    found, learned = clocked(lambda: lv.learn_structure(counted, lv.BDe()))
    return {
        "read": read,
        "distinct": distinct,
        "learned": learned,
        "distinct_rows": counted.n_rows,
        "score": found.score,
        "arcs": len(found.network.edges),
        "families": found.families_scored,
    }


def discover(path: Path, evidence: bool = True) -> dict:
    import leverrier as lv

    steps: dict[str, float] = {}

    def progress(what: str, _: float) -> None:
        steps.setdefault(what, round(_cpu() - begun, 1))

    begun = _cpu()
    found, seconds = clocked(lambda: lv.discover(path, method="network", jobs=2, evidence=evidence, progress=progress))
    print(found, flush=True)
    truth = set(lv.datasets.network("alarm").graph.neighbours(HIDDEN))
    places = [sorted({*each.children, *each.parents}) for each in found.hidden]
    shared = [len(truth & set(place)) for place in places]
    return {
        "seconds": seconds,
        "hidden": places,
        "states": [each.states for each in found.hidden],
        "truth": sorted(truth),
        "shared": shared,
        "gain": found.gain,
        "begun": steps,
    }


def search(path: Path) -> dict:
    return discover(path, evidence=False)


def rate(path: Path) -> dict:
    """With a limit below what all rows need, so that only distinct ones are kept."""
    import leverrier as lv
    from leverrier.data.memory_limit import PROGRAM

    lv.read_table(path.parent / "alarm_10000.parquet")
    limit = PROGRAM + 800_000_000
    counted, seconds = clocked(lambda: lv.read_table(path, max_memory=limit))
    assert counted.counted
    return {
        "seconds": seconds,
        "rows_a_second": counted.n_cases / seconds[0],
        "distinct_rows": counted.n_rows,
        "max_memory_MB": limit / 1e6,
    }


def clocked(work):
    wall, cpu = time.perf_counter(), _cpu()
    result = work()
    return result, (time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak() -> float:
    """Megabytes, of this process and its largest child."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024


def measured(what: str, path: Path) -> None:
    answer = {"structure": structure, "search": search, "discover": discover, "rate": rate}[what](path)
    rows = int(path.stem.split("_")[1])
    line = {"what": what, "rows": rows, "peak_MB": peak(), "load": os.getloadavg()[0], **answer}
    print(json.dumps(line), flush=True)
    with open(path.parent / "large.jsonl", "a") as out:
        out.write(json.dumps(line) + "\n")


def plot(folder: Path, target: Path) -> None:
    import altair as alt

    every = [json.loads(line) for line in (folder / "large.jsonl").read_text().splitlines()]
    lines = {(each["what"], each["rows"]): each for each in every}.values()  # the latest of each
    points = [
        {
            "rows": each["rows"],
            "what": "network",
            "seconds": sum(each[step][1] for step in ("read", "distinct", "learned")),
        }
        for each in lines
        if each["what"] == "structure"
    ]
    points += [
        {"rows": each["rows"], "seconds": each["seconds"][1], "what": WORDS[each["what"]]}
        for each in lines
        if each["what"] in WORDS
    ]
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows"),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds of processor time"),
            color=alt.Color("what:N", title=None),
        )
    )
    chart.properties(width=420, height=280, title="ALARM, INTUBATION hidden").save(str(target))


def main(what: str, *rest: str) -> None:
    if what == "make":
        print(make(int(rest[0]), Path(rest[1])))
    elif what == "plot":
        plot(Path(rest[0]), Path(rest[1]))
    elif what.startswith("one-"):
        measured(what[4:], Path(rest[0]))
    else:
        folder, chosen = Path(rest[0]), [int(each) for each in rest[1:]] or ROWS
        for rows in chosen:
            path = folder / f"alarm_{rows}.parquet"
            if not path.exists():
                make(rows, folder)
            subprocess.run([sys.executable, __file__, f"one-{what}", str(path)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
