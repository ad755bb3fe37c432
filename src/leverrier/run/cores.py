"""How many processors this process may use."""

from __future__ import annotations

import os
from typing import Any


def usable_cores() -> int:
    """Those that the system lets us use, where it says so; else all there are."""
    system: Any = os  # (not every system, nor every Python, has each of these)
    if hasattr(system, "process_cpu_count"):
        return system.process_cpu_count() or 1
    if hasattr(system, "sched_getaffinity"):
        return len(system.sched_getaffinity(0))
    return os.cpu_count() or 1
