"""Networks in files: the suffix tells the format, and a file is written whole or not at all."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from leverrier.errors import FormatError, OptionError, TooLargeError
from leverrier.formats.bif import dumps_bif, loads_bif
from leverrier.formats.drawn_graphs import SUFFIXES, dumps_drawn
from leverrier.formats.genie_xdsl import dumps_xdsl, loads_xdsl
from leverrier.formats.hugin_net import dumps_net, loads_net
from leverrier.formats.mixed_json import dumps_mixed, is_mixed, loads_mixed
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.formats.xmlbif import dumps_xmlbif, loads_xmlbif
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.network import Network
from leverrier.run.atomic_file import fill, put

MOST_BYTES = 2**27
"""Files that are larger, or unpack to more, are not networks that could be used."""

_FORMATS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif", ".json": "json"}
_FORMATS |= {".net": "net", ".xdsl": "xdsl"}
_WRITERS: dict[str, Callable[[Network], str]] = {
    "bif": dumps_bif,
    "xmlbif": dumps_xmlbif,
    "json": dumps_json,
    "net": dumps_net,
    "xdsl": dumps_xdsl,
}
_TEXT_READERS: dict[str, Callable[[str, str], Network | MixedNetwork]] = {
    "bif": loads_bif,
    "net": loads_net,
    "json": lambda text, name: loads_mixed(text, name) if is_mixed(text) else loads_json(text, name),
}
_READERS: dict[str, Callable[[bytes, str], Network]] = {"xmlbif": loads_xmlbif, "xdsl": loads_xdsl}
"""Of formats that say themselves how their text is encoded."""


def network_json(network: Network | MixedNetwork) -> str:
    """The JSON that keeps all of a network, of states alone or with numbers."""
    return _JSON[type(network)](network)


_JSON: dict[type, Callable[[Any], str]] = {Network: dumps_json, MixedNetwork: dumps_mixed}


def read_network(path: str | os.PathLike[str]) -> Network:
    """The network in a .bif, .xml (XMLBIF 0.3), .net (Hugin), .xdsl (GeNIe) or .json file, or one packed as .gz.

    One with numbers is a file of its own kind: `read_mixed_network` reads it.
    """
    network = _read(path)
    if isinstance(network, MixedNetwork):
        raise FormatError("a network with numbers: read_mixed_network reads it", path=os.fspath(path))
    return network


def read_mixed_network(path: str | os.PathLike[str]) -> MixedNetwork:
    """The network over states and numbers in a .json file, or in one packed as .json.gz."""
    network = _read(path)
    if not isinstance(network, MixedNetwork):
        raise FormatError("a network of states alone: read_network reads it", path=os.fspath(path))
    return network


def _read(path: str | os.PathLike[str]) -> Network | MixedNetwork:
    name = os.fspath(path)
    written = _format(name)
    data = read_whole(name)
    if written in _READERS:
        return _READERS[written](data, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("not UTF-8 text: save the file as UTF-8", path=name, line=line) from error
    return _TEXT_READERS[written](text, name)


def write_network(network: Network | MixedNetwork, path: str | os.PathLike[str], hidden: Collection[str] = ()) -> None:
    """Write a .bif, .xml (XMLBIF 0.3), .net (Hugin), .xdsl (GeNIe) or .json file, packed if .gz follows.

    JSON alone keeps everything. A .graphml or .gexf file has the graph alone, for programs that draw it, with the nodes
    in `hidden` marked as such and put in layers.
    """
    name = os.fspath(path)
    drawn = SUFFIXES.get(Path(name.lower()).suffix)
    if drawn is not None:
        if isinstance(network, MixedNetwork):
            raise FormatError(f"{drawn} is written for networks of states: write this one as .json", path=name)
        write_whole(name, dumps_drawn(network, drawn, hidden))
        return
    written = _format(name)
    if isinstance(network, MixedNetwork):
        if written != "json":
            raise FormatError(
                f"{written.upper()} cannot say numbers, only states: write the network as .json", path=name
            )
        data = network_json(network).encode()
    else:
        data = _WRITERS[written](network).encode()
    write_whole(name, gzip.compress(data, mtime=0) if name.lower().endswith(".gz") else data)


def require_format(path: str | os.PathLike[str]) -> None:
    """OptionError where no network can be written under this name."""
    name = os.fspath(path)
    if Path(name.lower()).suffix not in SUFFIXES:
        _format(name)


def _format(name: str) -> str:
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix in SUFFIXES:
        raise OptionError(f"{name}: a {suffix} file has the graph alone, no tables: it cannot be read as a network")
    if suffix not in _FORMATS:
        raise OptionError(
            f"{name}: the suffix {suffix!r} names no network format; .bif, .xml (XMLBIF), .net (Hugin), "
            ".xdsl (GeNIe) and .json do, also with .gz; .graphml and .gexf are written for drawing"
        )
    return _FORMATS[suffix]


def read_whole(name: str) -> bytes:
    """A file's bytes, unpacked if it is a .gz, and never more than can be meant."""
    try:
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
            raise FormatError("a pipe or a device, no plain file: copy it into one", path=name)
        with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FormatError(f"not a whole .gz file: {error}", path=name) from error
    except FormatError:
        raise
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {_reason(error)}", path=name) from error
    if len(data) > MOST_BYTES:
        raise TooLargeError(f"{name}: more than {MOST_BYTES // 2**20} MB of text; a network of that size is not read")
    return data


def write_whole(name: str, data: bytes) -> None:
    """Put these bytes in the file's place, whole or not at all."""
    try:
        put(name, lambda part: fill(part, data))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be written: {_reason(error)}", path=name) from error


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
