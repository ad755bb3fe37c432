"""Malformed files, in this process: none may crash, hang, or become a model.

Files of SPSS and Stata and workbooks are read by a process of their own, here by one for as many as it survives:
starting one for each of thousands would measure the starting."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from hardening.forks import patience
from hardening.good_files import SUFFIXES
from hardening.malformed import malformed
from hardening.outcome import Outcome, Size
from hardening.reading import wrong_with_reading
from leverrier.data.apart.reading_process import one_process

HANG = 2.0
NUMBERS = {
    "csv": 2_000,
    "parquet": 1_000,
    "sav": 10_000,
    "dta": 10_000,
    "xlsx": 10_000,
    "bif": 27_000,
    "xmlbif": 20_000,
    "network": 22_000,
    "dynamic": 12_000,
    "dynamic bif": 6_000,
    "discovery": 10_000,
    "net": 5_000,
    "xdsl": 5_000,
}
"""How many of each kind: more than a hundred thousand in all."""


def fuzz(size: Size) -> Outcome:
    found = Outcome("fuzz", "malformed files in this process", sum(size.of(count) for count in NUMBERS.values()))
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory(prefix="leverrier-") as folder, one_process():
        for kind, count in NUMBERS.items():
            path = Path(folder) / f"input{SUFFIXES[kind]}"
            for number in range(size.of(count)):
                if size.spent:
                    found.notes.append(f"the time ran out at {kind}")
                    return found
                path.write_bytes(malformed(kind, number))
                begun = time.monotonic()
                wrong = wrong_with_reading(kind, path)
                took = time.monotonic() - begun
                slowest = max(slowest, (took, f"{kind} {number}"))
                if took > patience(HANG) and wrong is None:
                    wrong = f"took {took:.1f} s"
                found.count(None if wrong is None else f"{kind} {number}: {wrong}")
    found.notes.append(f"the slowest took {slowest[0]:.2f} s ({slowest[1]})")
    return found
