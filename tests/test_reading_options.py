"""What a user says about columns holds on every route and verb, and a file is opened once."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import leverrier as lv
from leverrier.cli.group import cli
from leverrier.data.reading import column_files
from leverrier.data.reading.read_table import read_table
from leverrier.errors import OptionError
from leverrier.learning.classes.mixed_classes import mixed_classes
from leverrier.learning.mixtures.fit_mixture import fit_mixture

ROWS = 120
QUICK = {"evidence": False, "jobs": 1}


def columns() -> dict:
    """Two classes behind numbers and yes/no columns; `label` is the class itself, `times` a weight, −9 a hole."""
    rng = np.random.default_rng(5)
    h = rng.integers(0, 2, ROWS)
    cells = {f"x{j}": np.round(rng.normal(3 * h, 1.0), 3) for j in range(2)}
    cells["x0"][:4] = -9
    cells |= {f"s{j}": np.where(rng.random(ROWS) < 0.2 + 0.6 * h, "yes", "no") for j in range(5)}
    return {
        **cells,
        "code": rng.integers(1, 5, ROWS),
        "label": np.where(h, "b", "a"),
        "times": rng.integers(1, 4, ROWS),
    }


HOW = {"ignore": ["label"], "weights": "times", "types": {"code": "category"}, "missing": [-9]}
SAID = ["--ignore", "label", "--weights", "times", "--types", "code=category", "--missing", "-9"]
KEPT = ("x0", "x1", "s0", "s1", "s2", "s3", "s4", "code")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("options") / "t.csv"
    cells = columns()
    lines = [",".join(cells), *(",".join(map(str, row)) for row in zip(*cells.values(), strict=True))]
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture
def opened(monkeypatch):
    """How often a file was opened as a source of columns."""
    count = []
    inner = column_files.read_header
    monkeypatch.setattr(column_files, "read_header", lambda *a, **k: (count.append(a[0]), inner(*a, **k))[1])
    return count


def as_asked(shape, holes=4):
    assert tuple(each.name for each in shape.variables) == KEPT
    assert next(each for each in shape.variables if each.name == "code").kind == "category"
    assert shape.holes == holes


@pytest.mark.parametrize("method", ["auto", "network", "classes"])
def test_discover_over_tables_reads_as_asked_and_once(path, opened, method):
    found = lv.discover(path, method=method, **HOW, **QUICK)
    as_asked(found.result.shape)
    for each in (*found.hidden, *found.compressors):
        assert "label" not in each.children
        assert "times" not in each.children
    assert len(opened) == 1
    if method == "classes":
        model = found.result.model
        assert model.numbers.means.min() > -2  # (−9 would pull a class down)
        assert "label" not in model.classes.variables
        opened.clear()
        whole = found.posterior(path)
        assert len(opened) == 1
        np.testing.assert_allclose(whole, found.posterior(columns()), atol=1e-12)


def test_discover_of_causes_reads_as_asked(path):
    how = {**HOW, "ignore": ["label", "x0", "x1", "code", "times"], "weights": None, "types": None}
    found = lv.discover(path, method="causes", **how, **QUICK)
    assert [each.name for each in found.result.shape.variables] == ["s0", "s1", "s2", "s3", "s4"]
    with pytest.raises(OptionError, match="no weights"):
        lv.discover(path, method="causes", **HOW, **QUICK)


def test_discover_of_sequences_reads_as_asked_and_once(path, opened):
    how = {**HOW, "ignore": ["label", "times", "s2", "s3", "s4"]}
    with pytest.raises(OptionError, match="slices of a sequence count once"):
        lv.discover(path, method="sequences", **how)
    opened.clear()
    found = lv.discover(path, method="sequences", **{**how, "weights": None}, budget=5.0)
    assert [each.name for each in found.result.shape.variables] == ["x0", "x1", "s0", "s1", "code"]
    assert next(each for each in found.result.shape.variables if each.name == "code").kind == "category"
    assert int(np.isnan(found.sequences.numbers["x0"]).sum()) == 4
    assert len(opened) == 1


def test_a_table_brings_what_was_asked_when_it_was_read(path, opened):
    table = read_table(path, **HOW)
    assert table.variables == KEPT
    mixed = mixed_classes(table, 2, starts=2)
    again = mixed_classes(columns() | {"x0": np.where(columns()["x0"] == -9, np.nan, columns()["x0"])}, 2, starts=2)
    assert "label" in again.model.variables
    assert "label" not in mixed.model.variables
    assert mixed.log_likelihood == pytest.approx(mixed.model.log_likelihood(table, table.weights), rel=1e-6)
    numbers = table.select(["x0", "x1"])
    by_hand = np.column_stack([table.numbers["x0"], table.numbers["x1"]])
    found = fit_mixture(numbers, 2, starts=2)
    assert found.log_likelihood == fit_mixture(by_hand, 2, starts=2, weights=table.weights).log_likelihood
    with pytest.raises(OptionError, match="weights of its own"):
        fit_mixture(numbers, 2, weights=table.weights)
    with pytest.raises(OptionError, match="belongs to read_table"):
        mixed_classes(table, 2, weights=table.weights)
    for option in HOW:
        with pytest.raises(OptionError, match="Table already"):
            lv.discover(table, **{option: HOW[option]})
    assert len(opened) == 1


def asked(*words) -> dict:
    answer = CliRunner().invoke(cli, [*map(str, words), "--json"], standalone_mode=False, catch_exceptions=False)
    return json.loads(answer.stdout)


def test_check_shows_what_was_asked(path):
    found = asked("check", path, *SAID)
    assert [each["name"] for each in found["columns"]] == list(KEPT)
    assert found["holes"] == 4


def test_learn_and_classes_and_causes_read_as_asked(path, tmp_path):
    table = read_table(path, **HOW)
    learnt = asked("learn", path, *SAID)
    assert learnt["score"] == pytest.approx(lv.learn_structure(table, lv.BDeu()).score)
    out = tmp_path / "classes.json"
    found = asked("classes", path, *SAID, "--states", "2", "--starts", "2", "-o", out)
    assert found["log_likelihood"] == pytest.approx(lv.latent_classes(table, [2], starts=2).log_likelihood)
    assert set(lv.read_network(out).variables) >= set(KEPT) - {"x0", "x1"}
    causes = asked("causes", path, *SAID, "--sweeps", "10", "--chains", "1", "--checkpoint", tmp_path / "kept")
    assert all("label" not in cause["children"] for cause in causes["causes"])
    assert any("'label' is set aside: ignored" in note for note in causes["notes"])


def test_discover_from_the_command_line_reads_as_asked(path, tmp_path):
    words = (
        "--no-evidence",
        "--method",
        "classes",
        "--static",
        "-o",
        tmp_path / "r.html",
        "--save",
        tmp_path / "s.json",
    )
    asked("discover", path, *SAID, *words, "--jobs", "1")
    found = lv.load(tmp_path / "s.json").result
    as_asked(found.shape)
    assert sorted(found.model.classes.variables) == sorted(KEPT)


def test_types_that_cannot_be_read_are_said(path):
    with pytest.raises(OptionError, match="write COLUMN=TYPE"):
        CliRunner().invoke(cli, ["check", str(path), "--types", "code"], standalone_mode=False, catch_exceptions=False)


# --- every option on every verb and route ------------------------------------------------------------------------


def odd_files(folder):
    """The same signs in a text file that needs every option to be read rightly, and in a workbook's second sheet."""
    rng = np.random.default_rng(7)
    h = rng.integers(0, 2, ROWS)
    cells = {f"s{j}": np.where(rng.random(ROWS) < 0.2 + 0.6 * h, "yes", "no").tolist() for j in range(6)}
    cells["s5"][0] = "gone"
    cells["code"] = rng.integers(1, 3, ROWS).tolist()
    cells["label"] = np.where(h, "bé", "á").tolist()
    cells["x"] = [f"{value:.1f}".replace(".", ",") for value in rng.normal(5, 2, ROWS)]
    cells["times"] = rng.integers(1, 4, ROWS).tolist()
    cells["who"] = [f"p{i // 12}" for i in range(ROWS)]
    cells["day"] = [i % 12 for i in range(ROWS)]
    text = folder / "t.csv"
    rows = zip(*cells.values(), strict=True)
    text.write_bytes("\n".join([":".join(cells), *(":".join(map(str, row)) for row in rows)]).encode("cp500"))
    return text


OPTIONS = {
    "encoding": "cp500",
    "delimiter": ":",
    "decimal": ",",
    "ignore": ["label", "who", "day"],
    "types": {"code": "category"},
    "missing": ["gone"],
    "weights": "times",
}
FLAGS = ["--encoding", "cp500", "--delimiter", ":", "--decimal", ",", "--ignore", "label", "--ignore", "who"]
FLAGS += ["--ignore", "day", "--types", "code=category", "--missing", "gone", "--weights", "times"]
LEFT = ("s0", "s1", "s2", "s3", "s4", "s5", "code", "x")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    return odd_files(tmp_path_factory.mktemp("odd"))


def obeyed(table):
    """Each option leaves a trace of its own."""
    assert tuple(each.name for each in table.columns) == LEFT  # encoding, delimiter, ignore
    assert "x" in table.numbers  # decimal
    assert table.columns[6].kind == "category"  # types
    assert table.n_missing == 1  # missing
    assert table.total > ROWS  # weights


def test_every_option_from_python(odd):
    table = read_table(odd, **OPTIONS)
    obeyed(table)
    assert lv.learn_structure(odd, **OPTIONS).score == lv.learn_structure(table).score
    classes = lv.latent_classes(odd, 2, starts=2, **{**OPTIONS, "weights": None})
    plain = lv.latent_classes(read_table(odd, **{**OPTIONS, "weights": None}), 2, starts=2)
    assert classes.log_likelihood == plain.log_likelihood
    causes = lv.hidden_causes(odd, sweeps=10, chains=1, **OPTIONS)
    assert any("'label' is set aside: ignored" in note for note in causes.notes)
    shape = lv.discover(odd, method="classes", **OPTIONS, **QUICK).result.shape
    assert tuple(each.name for each in shape.variables) == LEFT
    assert shape.holes == 1
    with pytest.raises(TypeError, match="unexpected keyword"):
        lv.learn_structure(odd, encodign="cp500")


def test_every_option_from_the_command_line(odd, tmp_path):
    shown = asked("check", odd, *FLAGS)
    assert [each["name"] for each in shown["columns"]] == list(LEFT)
    assert shown["holes"] == 1
    assert next(each for each in shown["columns"] if each["name"] == "x")["cuts"]
    table = read_table(odd, **OPTIONS)
    assert asked("learn", odd, *FLAGS)["score"] == pytest.approx(lv.learn_structure(table, lv.BDeu()).score)
    classes = asked("classes", odd, *FLAGS, "--states", "2", "--starts", "2")
    assert classes["log_likelihood"] == pytest.approx(lv.latent_classes(table, [2], starts=2).log_likelihood)
    causes = asked("causes", odd, *FLAGS, "--sweeps", "10", "--chains", "1", "--checkpoint", tmp_path / "kept")
    assert any("'label' is set aside: ignored" in note for note in causes["notes"])
    saved = tmp_path / "s.json"
    quick = ("--no-evidence", "--static", "--jobs", "1", "-o", tmp_path / "r.html", "--save", saved)
    asked("discover", odd, *FLAGS, "--method", "classes", *quick)
    found = lv.load(saved)
    assert tuple(each.name for each in found.result.shape.variables) == LEFT
    wrote = asked("posterior", saved, odd, *FLAGS, "-o", tmp_path / "out.csv")
    assert wrote["rows"] == ROWS
    again = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, usecols=-1, quotechar='"')
    best = np.asarray(found.posterior(odd, **OPTIONS)).max(axis=1)
    np.testing.assert_allclose(again, best, atol=1e-9)


def test_sequences_from_the_command_line(odd):
    left = ["--ignore", "label", "--ignore", "times", "--ignore", "x"]
    how = [*FLAGS[:6], *left, "--by", "who", "--time", "day", "--missing", "gone"]
    assert asked("check", odd, *how)["rows"] == ROWS
    assert "s0" in asked("learn", odd, *how)["variables"]
    words = asked("classes", odd, *how, "--states", "2", "--starts", "2")["words"]
    assert "who" not in words


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["--encoding", "utf-8"], "--encoding latin-1"),
        (["--encoding", "klingon"], "--encoding klingon is not known"),
        ([*FLAGS[:4], "--types", "s5=number"], "--missing"),
        ([*FLAGS[:4], "--weights", "nobody"], "--weights names the column"),
        ([*FLAGS[:4], "--sheet", "one"], "--sheet is not for a text file"),
    ],
)
def test_hints_name_flags_on_the_command_line(odd, words, flag):
    with pytest.raises(lv.LeverrierError, match=flag):
        CliRunner().invoke(cli, ["check", str(odd), *words], standalone_mode=False, catch_exceptions=False)
