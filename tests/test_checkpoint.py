"""Checkpoints: bit for bit, two generations, damage noticed, nothing half-written, nothing left behind."""

import errno
import json
import os

import numpy as np
import pytest

from leverrier.errors import FormatError, OptionError
from leverrier.run import atomic_file as whole_file
from leverrier.run.checkpoint import Checkpoint, Journal, marked
from leverrier.run.checkpoint_format import _checksum, pack, unpack

CONTENT = {
    "array": np.arange(12.0).reshape(3, 4),
    "of": {"array": 1, "of": [None, True, "ü", 0.1, -0.0, 2**200]},
    "codes": np.array([[1, 2], [3, 255]], np.uint8),
    "none": np.zeros((0, 3)),
    "number": np.array(7.5),
    "generator": np.random.default_rng(3).bit_generator.state,
}


def same(a, b):
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    else:
        assert repr(a) == repr(b)


def test_what_is_packed_comes_back_bit_for_bit():
    serial, mark, content = unpack(pack(4, "run", CONTENT))
    assert (serial, mark) == (4, "run")
    same(content, CONTENT)


def test_nothing_but_plain_values_is_kept():
    for odd in ({1: 2}, np.array([object()]), np.array(["text"]), {"f": print}):
        with pytest.raises(TypeError):
            pack(1, "", odd)


def test_every_flipped_bit_cut_and_addition_is_noticed():
    whole = pack(41, "run", {"a": np.arange(3), "b": [1, 2]})
    for at in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << bit
            with pytest.raises(FormatError):
                unpack(bytes(damaged))
        with pytest.raises(FormatError):
            unpack(whole[:at])
    with pytest.raises(FormatError):
        unpack(whole + b"\0")


def test_a_forged_checksum_does_not_make_arrays_of_nothing():
    for about in ([["<f8", [2**40]]], [["|O8", [1]]], [["<f8", [-1]]], [["<f8", "x"]], [[1, 2]], 3):
        body = json.dumps({"mark": "m", "arrays": about, "content": {"array": 0}}).encode() + b"\n12345678"
        data = f"leverrier-checkpoint 1 1 {_checksum(1, body)} {len(body)}\n".encode() + body
        with pytest.raises(FormatError):
            unpack(data)
    deep = b'{"mark": "m", "arrays": [], "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    with pytest.raises(FormatError):
        unpack(f"leverrier-checkpoint 1 1 {_checksum(1, deep)} {len(deep)}\n".encode() + deep)


def kept(folder, mark="m"):
    again = Checkpoint(folder, "run", mark)
    try:
        return again.resume()
    finally:
        again.close()


def test_the_generation_before_is_used_when_the_newest_is_damaged(tmp_path):
    place = Checkpoint(tmp_path / "c", "run", "m")
    place.begin()
    for number in range(1, 6):
        place.save({"number": number})
    place.close()
    newest, before = place.slots[5 % 2], place.slots[4 % 2]
    assert kept(place.folder) == {"number": 5}
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-1])
    again = Checkpoint(place.folder, "run", "m")
    assert again.resume() == {"number": 4}
    assert "passed over" in again.warning
    again.save({"number": 50})  # goes where the damaged one was
    again.close()
    assert kept(place.folder) == {"number": 50}
    assert unpack(before.read_bytes())[2] == {"number": 4}
    for slot in place.slots:
        slot.write_bytes(b"nothing")
    with pytest.raises(FormatError, match="no checkpoint"):
        kept(place.folder)


def test_another_run_is_refused_and_two_at_once_are_too(tmp_path):
    place = Checkpoint(tmp_path, "run", "m")
    place.begin()
    place.save({})
    with pytest.raises(OptionError, match="in use"):
        kept(tmp_path)
    place.close()
    with pytest.raises(OptionError, match="other data or options"):
        kept(tmp_path, "another")
    assert kept(tmp_path) == {}


def test_a_new_run_does_not_meet_the_old_ones_pieces(tmp_path):
    for number in (7, 1):
        place = Checkpoint(tmp_path, "run", "m")
        place.begin()
        for k in range(number):
            place.save({"k": k})
        place.close()
    assert kept(tmp_path) == {"k": 0}


def test_a_finished_run_leaves_nothing(tmp_path):
    folder = tmp_path / "c"
    journal = Journal(Checkpoint(folder, "run", "m", every=0), resume=False)
    journal.add("a", 1)
    journal.save()
    assert folder.exists()
    journal.checkpoint.remove()
    assert not folder.exists()


def failing(number):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


ERRORS = {
    "no space": ("write", failing(errno.ENOSPC)),
    "an I/O error when settling": ("fsync", failing(errno.EIO)),
    "no permission": ("open", failing(errno.EACCES)),
    "no rename": ("replace", failing(errno.EIO)),
}


@pytest.mark.parametrize("what", ERRORS)
def test_a_failed_write_keeps_the_last_good_checkpoint(what, tmp_path, monkeypatch):
    name, fail = ERRORS[what]
    journal = Journal(Checkpoint(tmp_path, "run", "m", every=0), resume=False)
    journal.add("a", 1)
    with monkeypatch.context() as patch:
        patch.setattr(whole_file.os, name, fail)
        journal.add("b", 2)
    assert "could not be written" in journal.complaint
    journal.checkpoint.close()
    assert kept(tmp_path) == {"a": 1}
    assert len(list(tmp_path.iterdir())) == 1
    again = Journal(Checkpoint(tmp_path, "run", "m", every=0), resume=True)
    again.add("b", 2)  # the disk has room again
    again.checkpoint.close()
    assert kept(tmp_path) == {"a": 1, "b": 2}


def test_a_system_that_takes_few_bytes_at_a_time_is_asked_again(tmp_path, monkeypatch):
    genuine = os.write
    with monkeypatch.context() as patch:
        patch.setattr(whole_file.os, "write", lambda handle, data: genuine(handle, data[:7]))
        journal = Journal(Checkpoint(tmp_path, "run", "m", every=0), resume=False)
        journal.add("a", np.arange(100))
    journal.checkpoint.close()
    same(kept(tmp_path), {"a": np.arange(100)})


def test_what_a_killed_writer_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    target = tmp_path / "x.json"
    orphan = tmp_path / ".x.json.0123456789ab.part"
    other = tmp_path / ".y.json.0123456789ab.part"
    for path in (orphan, other):
        path.write_text("half")

    def write(part):
        whole_file.sweep(target)
        part.write_text("whole")

    whole_file.put(target, write)
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "x.json"]
    assert target.read_text() == "whole"


def test_marks_tell_data_apart():
    a = np.arange(4)
    assert marked("x", a) == marked("x", a.copy())
    assert len({marked("x", a), marked("y", a), marked("x", a.astype(float)), marked("x", a.reshape(2, 2))}) == 4


def test_an_interrupt_while_resuming_leaves_the_folder_free(tmp_path, monkeypatch):
    first = Checkpoint(tmp_path / "run", "run", "mark")
    first.save({"a": 1})
    first.close()

    def interrupted(_):
        raise KeyboardInterrupt

    broken = Checkpoint(tmp_path / "run", "run", "mark")
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_newest", interrupted)
        with pytest.raises(KeyboardInterrupt):
            broken.resume()
    again = Checkpoint(tmp_path / "run", "run", "mark")
    assert again.resume() == {"a": 1}
    again.close()
