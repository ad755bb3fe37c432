"""Writing a file in one step, and files that cannot be read or written."""

import gzip
import os
import stat

import pytest

from leverrier import datasets
from leverrier.errors import FormatError, OptionError, TooLargeError
from leverrier.formats import network_files as files
from leverrier.formats.network_files import read_network, write_network


def test_writing_replaces_the_file_in_one_step_or_leaves_it(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    asia, candy = datasets.network("asia"), datasets.network("candy")
    write_network(asia, path)
    path.chmod(0o640)
    write_network(candy, path)
    assert read_network(path) == candy
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fails)
    with pytest.raises(FormatError, match=r"model\.json: cannot be written: no space left on device"):
        write_network(asia, path)
    monkeypatch.undo()
    assert read_network(path) == candy
    with pytest.raises(FormatError, match="cannot be written as BIF"):
        write_network(asia.relabelled({"asia": ['"', "no"]}), tmp_path / "new.bif")
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "real.bif").write_text("")
    (tmp_path / "link.bif").symlink_to(tmp_path / "real.bif")
    write_network(datasets.network("asia"), tmp_path / "link.bif")
    assert (tmp_path / "link.bif").is_symlink()
    assert read_network(tmp_path / "real.bif") == datasets.network("asia")


@pytest.mark.parametrize("name", ["model.dsl", "model", "model.gz", "model.csv.gz"])
def test_a_suffix_that_names_no_format(name, tmp_path):
    for call in (read_network, lambda path: write_network(datasets.network("asia"), path)):
        with pytest.raises(
            OptionError, match=r"names no network format; \.bif, \.xml \(XMLBIF\), \.net .* and \.json do"
        ):
            call(tmp_path / name)


def test_files_that_cannot_be_read_or_written(tmp_path, monkeypatch):
    for call in (
        lambda: read_network(tmp_path / "none.bif"),
        lambda: read_network("nul\0.bif"),
        lambda: write_network(datasets.network("asia"), tmp_path / "no" / "folder.bif"),
        lambda: write_network(datasets.network("asia"), "nul\0.bif"),
    ):
        with pytest.raises(FormatError, match=r"\.bif: cannot be (read|written): ") as caught:
            call()
        assert "\n" not in str(caught.value)
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(FormatError, match="is a directory"):
        read_network(tmp_path / "folder.bif")
    with pytest.raises(FormatError, match="cannot be written: is a directory"):
        write_network(datasets.network("asia"), tmp_path / "folder.bif")
    (tmp_path / "false.bif.gz").write_bytes(b"network {}")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    for name in ("false.bif.gz", "cut.json.gz"):
        with pytest.raises(FormatError, match=r"not a whole \.gz file"):
            read_network(tmp_path / name)
    monkeypatch.setattr(files, "MOST_BYTES", 2**20)
    (tmp_path / "swells.bif.gz").write_bytes(gzip.compress(b" " * (2**20 + 1)))
    with pytest.raises(TooLargeError, match="more than 1 MB of text"):
        read_network(tmp_path / "swells.bif.gz")
