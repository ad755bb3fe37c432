"""A discovery in a few lines, and what its states look like as plain numbers."""

from __future__ import annotations

from leverrier.discovery.result import Result
from leverrier.report.words.quality_words import quality_lines
from leverrier.report.words.verdict_words import headline, kind_words, place

ALL = 1_000_000


def summary_of(found: Result) -> str:
    """The headline, a line a hidden variable, what was noticed in the data and may change the answer."""
    shape = found.shape
    lines = [headline(found), f"{shape.rows:,} rows, {shape.columns} columns, {shape.holes:,} empty cells"]
    for each in found.hidden:
        tested = "tested" if each in found.believed else "not tested, or not passed"
        lines.append(f"{each.name}: {kind_words(each)}, {place(each)}; gain {each.gain:,.1f} nats; {tested}")
    return "\n".join([*lines, *quality_lines(shape.quality, important=True)])


def profiles_of(found: Result) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """By hidden variable, state, column and value: the share of rows; of numbers the mean in deviations."""
    from leverrier.report.parts.profiles import profiles

    made: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for each in found.hidden:
        states: dict[str, dict[str, dict[str, float]]] = {}
        for profile in profiles(found, each, ALL):
            for k, state in enumerate(profile.states):
                columns = states.setdefault(state, {})
                for line in profile.rows:
                    columns.setdefault(line.column, {})[line.value if profile.shares else "mean"] = line.values[k]
        made[each.name] = states
    return made
