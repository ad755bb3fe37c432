"""Networks that come with the package, to try things on and to measure against."""

from __future__ import annotations

from importlib.resources import files

from leverrier.errors import OptionError
from leverrier.formats.network_json import loads_json
from leverrier.models.network import Network
from leverrier.models.noisy_or.noisy_or_model import hidden_causes

__all__ = ["hidden_causes", "network", "networks"]

_NETWORKS = ("alarm", "insurance", "asia", "child", "hailfinder", "win95pts", "candy", "heart")


def networks() -> tuple[str, ...]:
    """The names that `network` knows."""
    return _NETWORKS


def network(name: str) -> Network:
    """A bundled network by name; its `notes` say where it came from."""
    if name not in _NETWORKS:
        raise OptionError(
            f"no bundled network {name!r}; there are {', '.join(_NETWORKS)} (a file is read with read_network)"
        )
    file = files("leverrier") / "bundled" / f"{name}.json"
    return loads_json(file.read_text(encoding="utf-8"), f"bundled {name}.json")
