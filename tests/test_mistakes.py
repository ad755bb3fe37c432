"""The hundred most likely mistakes: each gets one clear line that names what came, and no traceback."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.cli import run

GOOD = "a,b,c\n" + "\n".join(f"{i % 2},{i % 3},{(i * 7) % 2}" for i in range(60)) + "\n"
FILES = {
    "good.csv": GOOD,
    "empty.csv": "",
    "header.csv": "a,b,c\n",
    "ragged.csv": "a,b\n1,2\n1,2,3\n",
    "twice.csv": "a,a\n1,2\n2,1\n",
    "constant.csv": "a,b\n" + "1,1\n" * 20,
    "ids.csv": "id\n" + "\n".join(f"person {i}" for i in range(40)) + "\n",
    "holes.csv": "a,b\n" + ",\n" * 20,
    "words.txt": "this is no table at all",
    "model.bif": "network x {",
    "list.json": "[1, 2, 3]",
    "other.json": '{"format": "other"}',
    "cut.json": '{"format": "leverrier-discovery", "version": 1',
    "model.xml": "<html><body>not a network</body></html>",
    "duplicate_time.csv": "p,t,x\na,1,u\na,1,v\nb,1,u\n",
}
COMMANDS = """
discover
discover nowhere.csv
discover .
discover empty.csv
discover header.csv
discover ragged.csv
discover twice.csv
discover ids.csv
discover good.csv --ignore nothing
discover good.csv --weights nothing
discover good.csv --draws -1
discover good.csv --draws many
discover good.csv --seed -1
discover good.csv --seed x
discover good.csv --jobs 0
discover good.csv --budget soon
discover good.csv --method magic
discover good.csv --max-hidden -2
discover good.csv --wrong-flag
discover good.csv -o nowhere/report.html --no-evidence
discover good.csv extra.csv
discover good.csv --by nobody --time never
discover good.csv --by a --time never
discover duplicate_time.csv --by p --time t
discover good.csv --method causes
discover good.csv --method classes
discover model.bif
posterior
posterior nowhere.json good.csv -o out.csv
report
report nowhere.json
discover good.csv --method sequences --checkpoint nowhere/here
discover good.csv --method sequences --work 20
discover good.csv --method sequences --cluster tcp://127.0.0.1:1
discover good.csv --method boyen1999 --resamples 50
report list.json
report cut.json
report model.bif -o page.html
report other.json -o nowhere/page.html
posterior list.json good.csv -o out.csv
posterior other.json good.csv -o out.csv
posterior cut.json good.csv -o out.csv
posterior good.csv good.csv -o out.csv
posterior model.bif good.csv -o out.csv
check
check nowhere.csv
check empty.csv
check ragged.csv
check model.bif
sample
sample nowhere -o out.csv
sample alarm
sample alarm -n 0 -o out.csv
sample alarm -n many -o out.csv
sample alarm -o out.xlsx
sample alarm -o nowhere/out.csv
sample alarm --hide NOBODY -o out.csv
sample model.bif -o out.csv
sample model.xml -o out.csv
sample list.json -o out.csv
convert
convert alarm
convert alarm out.pdf
convert nowhere.bif out.json
convert model.bif out.json
convert alarm nowhere/out.bif
learn nowhere.csv -o out.json
learn empty.csv -o out.json
learn good.csv -o out.pdf
learn good.csv --score magic -o out.json
learn good.csv --method magic -o out.json
cardinality
cardinality alarm good.csv
cardinality alarm good.csv --hidden NOBODY
cardinality alarm good.csv --hidden HR
cardinality nowhere.bif good.csv --hidden HR
classes nowhere.csv
classes good.csv --states zero
classes good.csv --states 0
classes good.csv --starts 0
classes empty.csv
causes nowhere.csv
causes good.csv --sweeps 0
causes good.csv --chains 0
causes words.txt
divine good.csv
"""
ARGUMENTS = [line.split() for line in COMMANDS.strip().splitlines()]
FRAME = pd.DataFrame({"a": list("uvuv") * 10, "b": list("xxyy") * 10, "c": list("pqqp") * 10})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_on_the_command_line(arguments, folder, capsys):
    before = sorted(path.name for path in folder.iterdir())
    assert run(arguments) == 2
    out = capsys.readouterr()
    lines = out.err.strip().splitlines()
    assert len(lines) == 1, out.err
    assert lines[0].startswith("leverrier: ")
    assert "Traceback" not in out.err
    assert len(lines[0]) > 20
    assert sorted(path.name for path in folder.iterdir()) == before, "something was left behind"


CALLS = {
    "a number for data": lambda: lv.discover(7),
    "nothing for data": lambda: lv.discover(None),
    "an empty frame": lambda: lv.discover(pd.DataFrame()),
    "a frame without rows": lambda: lv.discover(FRAME.head(0)),
    "columns of unequal length": lambda: lv.read_table({"a": [1, 2], "b": [1]}),
    "a weight that is text": lambda: lv.read_table(FRAME, weights="a"),
    "negative weights": lambda: lv.read_table(FRAME, weights=-np.ones(40)),
    "too few weights": lambda: lv.read_table(FRAME, weights=np.ones(3)),
    "a column to ignore that is not there": lambda: lv.read_table(FRAME, ignore=["z"]),
    "an unknown type": lambda: lv.read_table(FRAME, types={"a": "colour"}),
    "a type for no column": lambda: lv.read_table(FRAME, types={"z": "number"}),
    "no bundled network": lambda: lv.datasets.network("alaarm"),
    "no variable": lambda: lv.datasets.network("asia").posterior(FRAME, "nobody"),
    "rows of another table": lambda: lv.datasets.network("asia").log_likelihood(FRAME),
    "a network in a frame's place": lambda: lv.learn_structure(lv.datasets.network("asia")),
    "no such method": lambda: lv.learn_structure(FRAME, method="magic"),
    "an arc from nowhere": lambda: lv.learn_structure(FRAME, required=[("z", "a")]),
    "an arc asked for and forbidden": lambda: lv.learn_structure(FRAME, required=[("a", "b")], forbidden=[("a", "b")]),
    "a negative prior": lambda: lv.BDeu(-1.0),
    "hidden and measured": lambda: lv.fit(lv.datasets.network("asia"), FRAME, hidden={"a": 2}),
    "one state": lambda: lv.find_hidden(FRAME, cardinality=1),
    "no such search": lambda: lv.find_hidden(FRAME, method="hope"),
    "classes of none": lambda: lv.latent_classes(FRAME, states=[]),
    "classes below one": lambda: lv.latent_classes(FRAME, states=[0]),
    "a mixture of words": lambda: lv.fit_mixture(FRAME, components=2),
    "no components": lambda: lv.fit_mixture(np.zeros((10, 2)) + np.arange(10)[:, None], components=0),
    "signs that are numbers": lambda: lv.hidden_causes(np.arange(12.0).reshape(4, 3)),
    "no sweeps": lambda: lv.hidden_causes(np.zeros((5, 3), int), sweeps=0),
    "a path to nothing": lambda: lv.load("nowhere.json"),
    "a report to nowhere": lambda: lv.write_table(lv.read_table(FRAME), "nowhere/out.csv"),
    "sequences by no column": lambda: lv.read_sequences(FRAME, by="z"),
    "a time that repeats": lambda: lv.read_sequences(FRAME, by="a", time="b"),
    "a hidden Markov model of no states": lambda: lv.hidden_markov(FRAME, states=0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_in_python(call, folder):  # noqa: ARG001
    with pytest.raises(lv.LeverrierError) as error:
        call()
    assert "\n" not in str(error.value).strip()
    assert len(str(error.value)) > 15


def test_these_are_a_hundred():
    assert len(ARGUMENTS) + len(CALLS) >= 100
