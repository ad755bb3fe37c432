"""A slice of every check, and checks that can fail: a fault put in is found."""

import inspect
import json
import subprocess
import sys

import pytest

import hardening.damage as damage_module
import leverrier as lv
from hardening.arguments import cli_fuzz
from hardening.attack_files import attacks
from hardening.attacks import _suffer
from hardening.checks import names
from hardening.command import CHECKS, verify
from hardening.damage import damage, writes
from hardening.digests import CALLS
from hardening.fuzz import NUMBERS, fuzz
from hardening.good_files import SUFFIXES, good_files
from hardening.kills import kills
from hardening.malformed import KINDS, malformed
from hardening.outcome import Size
from hardening.reading import wrong_with_reading
from leverrier.cli import run
from leverrier.run import checkpoint, checkpoint_format

PAGE = "a page with"


def assert_holds(outcome):
    assert outcome.tried >= outcome.wanted
    assert outcome.holds, outcome.failures


def test_sound_files_are_read_and_inputs_are_the_same_every_time(tmp_path):
    for kind in KINDS:
        for data in good_files(kind):
            path = tmp_path / f"good{SUFFIXES[kind]}"
            path.write_bytes(data)
            assert wrong_with_reading(kind, path) is None
        assert malformed(kind, 3) == malformed(kind, 3)
    assert sum(NUMBERS.values()) >= 100_000


def test_malformed_files_are_refused_in_one_line():
    assert_holds(fuzz(Size(0.003)))


def test_a_reader_that_crashes_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    path.write_bytes(good_files("network")[0])
    monkeypatch.setattr("hardening.reading.lv.read_network", lambda _: 1 / 0)
    assert "ZeroDivisionError" in str(wrong_with_reading("network", path))


def test_odd_commands_end_in_one_line():
    assert_holds(cli_fuzz(Size(0.02), run))


@pytest.mark.parametrize("one", [one for one in attacks()[::25] if PAGE not in one.name], ids=lambda one: one.name[:30])
def test_attacks_do_no_harm(one):
    assert _suffer(one)[0] is None


def test_pages_do_no_harm():
    """In a process of its own: a fork of one that has drawn charts waits for their thread, which was not forked."""
    program = (
        "from hardening.attack_files import attacks\n"
        "from hardening.attacks import _suffer\n"
        f"print([_suffer(one)[0] for one in attacks() if {PAGE!r} in one.name][:2])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[None, None]"


def test_three_hundred_attacks():
    assert len(attacks()) >= 300


def test_damaged_checkpoints_are_noticed():
    assert_holds(damage(Size(0.02)))
    assert_holds(writes(Size(0.2)))


def test_a_checksum_that_is_not_looked_at_is_noticed(monkeypatch):
    monkeypatch.setattr(checkpoint_format, "_checksum", lambda *_: "0" * 64)
    assert not damage(Size(0.02)).holds


def test_a_write_that_is_not_atomic_is_noticed(monkeypatch):
    def careless(target, write):
        for slot in target.parent.glob("run.*"):
            slot.unlink()
        checkpoint_put(target, write)

    checkpoint_put = damage_module.whole_file.put
    monkeypatch.setattr(checkpoint, "put", careless)
    assert not writes(Size(0.2)).holds


def test_killed_runs_are_resumed():
    assert_holds(kills(Size(0.02)))


def test_the_verb_lists_every_check(capsys):
    assert names() == CHECKS
    assert run(["damage", "--quick", "--json"], verify) == 0
    assert json.loads(capsys.readouterr().out)[0]["holds"]
    assert run(["nothing"], verify) == 2


def _seeded() -> set[str]:
    """Every public function, and every method of a public class, that takes a seed."""
    places = {"": lv, "datasets.": lv.datasets}
    found = set()
    for prefix, module in places.items():
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or inspect.ismodule(value) or not callable(value):
                continue
            if prefix and value is getattr(lv, name, None):  # (imported there, not made there)
                continue
            members = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else [("", value)]
            for method, function in members:
                if not method.startswith("_") and "seed" in inspect.signature(function).parameters:
                    found.add(f"{prefix}{name}.{method}".rstrip("."))
    return found


def test_every_public_function_with_a_seed_has_a_digest():
    seeded = _seeded()
    assert {"discover", "fit", "Network.sample", "datasets.hidden_causes"} <= seeded  # (the walk sees what it should)
    assert seeded - {"Mixture.sample_labelled"} == set(CALLS)  # (which is drawn with Mixture.sample)
