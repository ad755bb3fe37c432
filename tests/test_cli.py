"""The command line as a user meets it: codes, one clear line, nothing half-written."""

import json
import subprocess
import sys

import pytest

from leverrier.cli import run

BIF_CYCLE = """network t {}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { x, y }; }
probability ( a | b ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }
"""
BIF_SUM = """network t {}
variable a { type discrete [ 2 ] { x, y }; }
probability ( a ) { table 0.5, 0.6; }
"""
BIF_HUGE = (
    "network t {}\n"
    + "".join(
        f"variable v{i} {{ type discrete [ 100 ] {{ {', '.join(f's{k}' for k in range(100))} }}; }}\n" for i in range(7)
    )
    + "probability ( v0 | v1, v2, v3, v4, v5, v6 ) { default 0.01; }\n"
)

BAD_FILES = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"a,b\n", "no rows"),
    "twice.csv": (b"a,a\n1,2\n2,1\n", "'a'"),
    "long.csv": (b"a,b\n1,2\n1,2,3\n", "line 3"),
    "damaged.csv": ("a,b\ncafé,1\nthé,2\n".encode() + b"x\xe9,3\n", "UTF-8"),
    "table.xlsx": (b"PK", "xlsx"),
    "broken.parquet": (b"PAR1 this is not parquet", "parquet"),
}
BAD_NETWORKS = {
    "cycle.bif": (BIF_CYCLE, "cycle"),
    "sum.bif": (BIF_SUM, "sum"),
    "huge.bif": (BIF_HUGE, "cells"),
    "cut.bif": (BIF_SUM[:70], "cut.bif"),
    "odd.json": ('{"format": "something else"}', "odd.json"),
}


def one_line(capsys):
    error = capsys.readouterr().err
    assert error.startswith("leverrier: ")
    assert len(error.strip().splitlines()) == 1
    assert "Traceback" not in error
    return error


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_table_is_one_clear_line_and_code_2(name, tmp_path, capsys):
    content, words = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert run(["learn", str(path), "-o", str(tmp_path / "out.json")]) == 2
    assert words.lower() in one_line(capsys).lower()
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize("name", BAD_NETWORKS)
def test_a_bad_network_is_one_clear_line_and_code_2(name, tmp_path, capsys):
    text, words = BAD_NETWORKS[name]
    (tmp_path / name).write_text(text)
    assert run(["convert", str(tmp_path / name), str(tmp_path / "out.json")]) == 2
    assert words in one_line(capsys)
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "nowhere.csv"], "nowhere.csv"),
        (["convert", "nowhere.bif", "x.json"], "bundled are"),
        (["convert", "asia", "x.docx"], "docx"),
        (["sample", "asia", "-n", "0", "-o", "x.csv"], "0"),
        (["sample", "asia", "-o", "x.csv", "--hide", "tall"], "tall"),
        (["learn", "x.csv", "--budget", "soon"], "5m"),
        (["lern", "x.csv"], "lern"),
        (["sample", "asia", "-o", "no/such/folder/x.csv"], "no/such/folder"),
    ],
)
def test_a_wrong_argument_is_one_clear_line_and_code_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert words in one_line(capsys)
    assert list(tmp_path.iterdir()) == []


def test_sample_learn_convert_check(tmp_path, capsys):
    rows, model = tmp_path / "rows.csv", tmp_path / "model.bif"
    assert run(["sample", "asia", "-n", "2000", "-o", str(rows), "--seed", "1"]) == 0
    assert run(["learn", str(rows), "-o", str(model), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["status"] == "converged"
    assert answer["edges"]
    assert run(["convert", str(model), str(tmp_path / "model.json")]) == 0
    assert run(["check", str(rows)]) == 0
    assert "2,000" in capsys.readouterr().out.replace("2000", "2,000")


def test_help_and_version_cost_nothing_and_end_with_0():
    code = "import sys; from leverrier.cli import run; run(sys.argv[1:]); print('numba' in sys.modules)"
    for flag in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, flag], capture_output=True, text=True, check=True)
        assert done.stdout.strip().endswith("False")


def test_ctrl_c_while_python_packs_up_changes_nothing():
    late = "import atexit, os, signal; atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); "
    code = late + "from leverrier.cli import main; main(['--version'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "leverrier" in done.stdout
