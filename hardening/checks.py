"""The list of checks, and how one is run: bounded in time, and whatever it raises is its failure."""

from __future__ import annotations

import time
from collections.abc import Callable

from hardening.arguments import Command, cli_fuzz
from hardening.attacks import attack
from hardening.clocks import budgets, interrupts
from hardening.damage import damage, writes
from hardening.digests import digests
from hardening.fuzz import fuzz
from hardening.kills import kills
from hardening.outcome import Outcome, Size
from leverrier.errors import OptionError

QUICK = 0.02
"""The share of a check that a quick look does."""
MOST_SECONDS = 540.0


def names() -> tuple[str, ...]:
    return tuple(_checks(lambda _: 0))


def run_check(name: str, command: Command, *, quick: bool = False, budget: float | None = None) -> Outcome:
    """One check, for at most so many seconds; `command` is the command line."""
    checks = _checks(command)
    if name not in checks:
        raise OptionError(f"no check {name!r}: there are {', '.join(checks)}")
    begun = time.monotonic()
    found = checks[name](Size(QUICK if quick else 1.0, begun + (budget or MOST_SECONDS)))
    found.seconds = time.monotonic() - begun
    return found


def _checks(command: Command) -> dict[str, Callable[[Size], Outcome]]:
    return {
        "fuzz": fuzz,
        "cli": lambda size: cli_fuzz(size, command),
        "attacks": attack,
        "damage": damage,
        "writes": writes,
        "kills": kills,
        "interrupts": interrupts,
        "budget": budgets,
        "digests": digests,
    }
