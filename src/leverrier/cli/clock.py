"""When this process began: a budget counts from there, not from when the libraries were loaded."""

from __future__ import annotations

import os
import time

_LOADED = time.monotonic()


def process_age() -> float:
    """Seconds since this process began; where the system does not say, since this module was loaded."""
    try:
        with open("/proc/self/stat", "rb") as file:
            began = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - began, 0.0)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic() - _LOADED


def slowness() -> float:
    """How many seconds pass for each that this process computes: 1 on an idle machine, more on a busy one."""
    return min(max(process_age() / max(time.process_time(), 0.1), 1.0), 10.0)
