"""A discovery's tables for papers: profiles with intervals, evidence, fits by number of states, a checklist."""

from __future__ import annotations

import math

from leverrier.data.paper_table import Cell, PaperTable
from leverrier.discovery.result import Result
from leverrier.report.parts.profiles import profiles
from leverrier.report.parts.states_part import FIT
from leverrier.report.words.verdict_words import kind_words

EVERY = 10_000
"""No line of a profile is left out of a table."""


def paper_tables(found: Result) -> dict[str, PaperTable]:
    """By name; what was not measured is not there."""
    made = {
        "profiles": profile_table(found),
        "evidence": _evidence_table(found),
        "fit": _fit_table(found),
        "checklist": checklist(found),
    }
    return {name: table for name, table in made.items() if table is not None and table.rows}


def profile_table(found: Result) -> PaperTable:
    """Every column's value (or mean) in every state with its standard error and 95 % interval."""
    rows: list[tuple[Cell, ...]] = []
    for each in found.hidden:
        states = found.meanings.get(each.name, ())
        known = None if found.rows is None else found.rows.certainty.get(each.name)
        for profile in profiles(found, each, EVERY):
            for line in profile.rows:
                for k, state in enumerate(states):
                    worth = max(known.worth[k] if known else state.prevalence * found.shape.rows, 1.0)
                    share = line.values[k]
                    error = math.sqrt(share * (1 - share) / worth) if profile.shares else _half(line.low, line.high, k)
                    rows.append(
                        (
                            each.name,
                            str(state.label),
                            state.prevalence,
                            line.column,
                            line.value or "mean",
                            share,
                            error,
                            line.low[k],
                            line.high[k],
                        )
                    )
    head = ("hidden", "state", "share of rows", "column", "value", "estimate", "standard error", "low", "high")
    caption = "Profiles of the hidden states: estimates with standard errors and 95 % intervals."
    return PaperTable("profiles", head, tuple(rows), caption)


def _half(low: tuple[float, ...], high: tuple[float, ...], k: int) -> float:
    return (high[k] - low[k]) / (2 * 1.959964)


def _evidence_table(found: Result) -> PaperTable:
    rows: list[tuple[Cell, ...]] = []
    for each in (*found.hidden, *found.compressors):
        one = each.evidence
        low, high = (None, None) if one is None or one.held_out_interval is None else one.held_out_interval
        measured = (None,) * 4 if one is None else (one.draws, one.p_value, one.held_out, one.support)
        draws, p_value, held_out, support = measured
        believed = "yes" if each in found.believed else "no"
        rows.append((each.name, kind_words(each), each.gain, draws, p_value, held_out, low, high, support, believed))
    head = ("hidden", "what", "gain", "draws", "p", "held-out gain a row", "low", "high", "resamples", "believed")
    caption = "Evidence for the hidden variables; gains in nats, held-out gains with 95 % intervals."
    return PaperTable("evidence", head, tuple(rows), caption)


def _fit_table(found: Result) -> PaperTable:
    rows = [
        (name, *(getattr(one, key) for key in FIT if key != "best_count"))
        for name, fits in found.scores.items()
        for one in fits
    ]
    caption = (
        "Fit by number of states, with the same arcs: Cheeseman–Stutz score (nats, larger is better), log-likelihood, "
        "free parameters, AIC and BIC (smaller is better), relative entropy and share of the smallest state."
    )
    head = ("hidden", *(said for key, said in FIT.items() if key != "best_count"))
    return PaperTable("fit", head, tuple(rows), caption, 1)


def checklist(found: Result) -> PaperTable:
    """The items of SMART-LCA that can be filled in from the run; the others are the author's."""
    settings, shape = found.settings, found.shape
    yours = "to be written by the author"
    rows = (
        ("Purpose, and why classes are expected", yours),
        ("Participants and setting", yours),
        ("Sample size", f"{shape.rows:,} rows"),
        ("Indicators", ", ".join(variable.name for variable in shape.variables[:40])),
        ("Missing data", f"{shape.holes:,} empty cells, summed over (missing at random is assumed)"),
        ("Software", f"Leverrier {settings.version}, seed {settings.seed}"),
        ("Estimation", f"EM within structure search; score {settings.score}"),
        *_classes_reported(found),
        ("Profiles with standard errors", "the table `profiles`"),
        ("Naming of classes", "as in the table `profiles`" if found.renamed else yours),
        ("Limitations, and what would change the conclusion", f"see the report's first section; {yours}"),
    )
    caption = "Reporting checklist after SMART-LCA, filled in where the run can say it."
    return PaperTable("checklist", ("item", "reported"), rows, caption)


def _classes_reported(found: Result) -> list[tuple[str, str]]:
    """How many, how large, how sure, how tested: of the first hidden variable."""
    if not found.hidden:
        return [("Classes found", f"none: {found.verdict.reason}")]
    first = found.hidden[0]
    one, states = first.evidence, found.meanings.get(first.name, ())
    known = None if found.rows is None else found.rows.certainty.get(first.name)
    rows = [("Classes found", kind_words(first))]
    fits = found.scores.get(first.name, ())
    compared = ", ".join(str(one.states) for one in fits)
    if compared:
        rows.append(("Numbers of classes compared", f"{compared}, with the same arcs: the table `fit`"))
    if states:
        rows.append(("Sizes of classes", "; ".join(f"{s.label}: {100 * s.prevalence:.1f} %" for s in states)))
        rows.append(("Smallest class", f"{100 * min(s.prevalence for s in states):.1f} %"))
    if known is not None:
        chosen = next((one.entropy for one in fits if one.states == first.states and one.entropy is not None), None)
        rows.append(("Entropy (relative)", f"{known.sharpness if chosen is None else chosen:.3f}"))
        rows.append(("Average posterior probability", f"{known.mean:.3f}"))
    if one is not None and one.p_value is not None:
        rows.append(("Test against chance", f"p = {one.p_value:.3g}, {one.draws} simulated tables"))
    if one is not None and one.support is not None:
        rows.append(("Replication", f"came back in {100 * one.support:.0f} % of resamples"))
    if found.remaining is not None:
        left, pairs = len(found.remaining.clear), found.remaining.n_pairs
        rows.append(("Local dependence", f"{left} of {pairs} pairs of columns left unexplained"))
    return rows
