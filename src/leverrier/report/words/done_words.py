"""What was done, a sentence a step."""

from __future__ import annotations

from leverrier.discovery import done
from leverrier.discovery.done import CausesEnd, Omitted, Skipped, Step
from leverrier.discovery.evidence.power import Power
from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.learning.mixed.mixed_space import Unvarying
from leverrier.report.parts.page_parts import several


def done_words(step: Step) -> str:
    """One step in words, to stand in a list: no capital, no full stop."""
    match step:
        case done.Said(words):
            return words
        case done.Binned(columns):
            return f"cut {several(columns, 'column')} of numbers into bins (networks are over states)"
        case done.Filled(cells, fits):
            use = "fits and posteriors" if fits else "posteriors"
            return (
                f"filled the {several(cells, 'empty cell')} by draws from a network without hidden variables, for the "
                f"search only; {use} use the table as it came"
            )
        case done.Sampled(rows, learned):
            how = "tested and learned them" if learned else "and tested them,"
            return f"looked for hidden variables, {how} in {rows:,} rows drawn at random"
        case done.Baseline(arcs, numbers):
            return _baseline_words(arcs, numbers)
        case done.Tried(candidates):
            return f"tried {several(candidates, 'candidate')}"
        case done.TakenTogether(hidden, rounds, level):
            return _together_words(hidden, rounds, level)
        case done.OneClass(tested):
            end = " (Cox's test)" if tested else ", untested"
            return f"asked whether one class behind all columns explains them better than arcs do{end}"
        case done.ByGroups(groups):
            return f"drew, held out and simulated {several(groups, 'whole group')} of rows; classes were not compared"
        case done.LearnedFrom(rows, arcs):
            return _learned_words(rows, arcs)
        case done.ClassesFitted():
            return (
                "fitted one hidden class over numbers as they are (Gaussian, with or without correlation within a "
                "class) and categories; the number of states chosen by BIC"
            )
        case done.CausesCompared(gain, error, against, share):
            rows = "held-out rows" if share == 1 else f"the first {share:.0%} of held-out rows, which was enough"
            return (
                f"compared with overlapping causes on {rows}: causes {gain:+.4f} nats a row (standard error "
                f"{error:.4f}) against the {'classes' if against is ModelKind.CLASSES else 'network'}"
            )
        case done.CausesDropped(why, end):
            return _dropped_words(why, end)
        case done.SetAside(column, why):
            return f"{column!r} was set aside: {unvarying_words(why)}"
        case done.HiddenWeighed():
            return _weighed_words(step)
        case done.TraitsTogether(told, tried, rows, gain):
            beside = f" (of {tried}; the others are shown by fewer than three items, or say nothing of their own)"
            return (
                f"weighed {told} hidden variables{beside if tried > told else ''} behind graded items against it, all "
                f"together, in the {rows:,} rows without a hole: {gain:+.1f} nats; each is told with what the score "
                "falls by without it"
            )
        case done.BareClasses(states, columns, gain, views):
            return (
                f"{states} classes behind {', '.join(columns)} would gain {gain:.1f} nats, but only {views} of these "
                "columns hang together through them alone; arcs between the columns may say it too"
            )
        case done.GroupsSeen():
            return _groups_words(step)
        case done.CutShort(omitted):
            parts = ", ".join(map(_omitted_words, omitted)) or "only a part of the search"
            return f"the time ran out before everything was done; left out: {parts}"


def groups_told(seen: done.GroupsSeen) -> str:
    """One sentence: how many groups, how large."""
    sizes = ", ".join(f"{each:,}" for each in seen.rows[:-1]) + f" and {seen.rows[-1]:,}"
    return f"The rows do fall into {len(seen.rows)} groups, of {sizes} rows, that the columns themselves show."


def _groups_words(seen: done.GroupsSeen) -> str:
    first, *others = map(str, seen.components)
    taken = f"{', '.join(others[:-1])} or {others[-1]}" if len(others) > 1 else " or ".join(others)
    taken = f"{first}{', ' if len(others) > 1 else ' or ' if others else ''}{taken}"
    unsure = f"{100 * seen.unsure:.0f} % of the rows" if seen.unsure >= 0.01 else "hardly a row"
    return (
        f"looked for groups of rows among the numbers: {len(seen.rows)} lie apart, by {', '.join(seen.columns)} "
        f"(between them rows are rarer than on both sides, p = {seen.p_value:.2g} on rows that had no part in finding "
        f"where; {unsure} cannot be placed with 90 % certainty; BIC takes {taken} Gaussians). "
        "Groups that the columns show are a description and no sign of something hidden: arcs from a column with humps "
        "say as much. fit_mixture tells which row is in which"
    )


def _weighed_words(step: done.HiddenWeighed) -> str:
    gains = (("class", step.of_class), ("continuum", step.of_continuum))
    told = "".join(f", the best {what} {gain:+.1f} nats" for what, gain in gains if gain is not None)
    return (
        f"weighed it against hidden classes and hidden continua ({several(step.beginnings, 'beginning')}{told}); "
        f"something hidden must drive at least {step.views} columns that have no arc between them, and gain more than "
        "2 nats as a class, 3 as a continuum"
    )


def power_words(power: Power) -> str:
    """How strong a hidden variable must be to be found in so many rows."""
    planted = f"a hidden variable with two equally frequent states behind {power.children} columns"
    if power.detectable is None:
        return f"With {power.rows:,} rows we would miss {planted}, even one that sets most of their values."
    least = 100 * power.detectable
    return (
        f"With {power.rows:,} rows we would find {planted} if it set {least:.0f} % or more of their values, "
        f"and miss most weaker ones."
    )


def unvarying_words(why: Unvarying) -> str:
    """Why a column without two values says nothing."""
    return "it is empty" if why.value is None else f"it has only the value {why.value}"


def _baseline_words(arcs: int, numbers: bool) -> str:
    if not numbers:
        return f"learned the best network without hidden variables ({several(arcs, 'arc')})"
    return (
        "learned the best network of numbers and states as they are, without hidden variables "
        f"({several(arcs, 'arc')}): lines, curves, trees, logits and noise of any shape, each paying for its parameters"
    )


def _together_words(hidden: int, rounds: int, level: float | None) -> str:
    taken = f"took {several(hidden, 'hidden variable')} in {several(rounds, 'round')}, all that do not overlap at once"
    if level is None:
        return f"{taken}; none was tested"
    return (
        f"{taken}; the candidates of a round share its simulated tables, and each is compared with what they gain in "
        f"its place: of those named at most {100 * level:.3g} % are false on average (the false discovery rate, by "
        "Benjamini and Hochberg's rule in each round)"
    )


def _learned_words(rows: int | None, arcs: bool) -> str:
    if rows is None:
        return "learned the model from those rows alone"
    if arcs:
        return f"learned the network, with what was believed, from all {rows:,} rows"
    return f"learned the probabilities from all {rows:,} rows; scores are the sample's"


def _dropped_words(why: Reason | None, end: CausesEnd | None) -> str:
    if end is CausesEnd.UNSHARED:
        return "but no cause reaches two columns"
    if end is CausesEnd.UNNAMED:
        return "overlapping causes were better there, but the time ran out before they were named"
    if why is Reason.CAUSES_SIZE:
        cause = "so many overlap in one row that held-out rows cannot be summed"
    else:
        cause = "the time ran out"
    return f"overlapping causes were not compared: {cause}"


def _omitted_words(one: Omitted) -> str:
    said = {
        Skipped.SEARCH: "the search for hidden variables",
        Skipped.TABLES: f"{one.short} of {one.asked} tables with nothing hidden ({one.hidden})",
        Skipped.HELD_OUT: f"the gain of {one.hidden} on held-out rows",
        Skipped.RESAMPLES: f"resamples for {one.hidden}",
        Skipped.POWER: "what would have been missed",
        Skipped.UNEXPLAINED: "what is left unexplained",
    }
    return said[one.part]
