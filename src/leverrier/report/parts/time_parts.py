"""The sections of a report on sequences: the verdict, why we believe it, what the states mean, what is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from leverrier.data.sequences.slice_features import Memory
from leverrier.data.table import Label
from leverrier.discovery.meaning import State, marked
from leverrier.discovery.time.time_diagnostics import TimeSummary
from leverrier.discovery.time.time_findings import HiddenChain, TimeFindings
from leverrier.discovery.time.time_words import ASKED, chain_words, observed_words, slices_text, summary
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.report.charts.discovery_charts import profile_chart
from leverrier.report.charts.pictures import pictured
from leverrier.report.charts.sequence_charts import folds_chart, tried_chart
from leverrier.report.parts.page_parts import (
    Block,
    Facts,
    Figures,
    Grid,
    Items,
    Part,
    Words,
    abbreviated,
    percent,
    several,
    shortened,
)
from leverrier.report.parts.profiles import share_profiles
from leverrier.report.parts.states_part import states_grid
from leverrier.report.parts.tree_tables import MEANING, slice_name
from leverrier.report.parts.verdict_part import NO_PROOF

LONG = 48
INTERVALS = (
    "Lines are 95 % intervals (Wilson's) as if slices were independent; slices that follow each other are not, so the "
    "truth is wider. Ticks: all slices."
)


def short_chain(one: HiddenChain) -> str:
    """The sentence on a hidden variable, with labels that can be read and at most twelve of them."""
    names = abbreviated(one.drives, LONG)
    said = [names[name] for name in one.drives]
    drives = (*said[:11], f"{len(said) - 11} more") if len(said) > 12 else tuple(said)
    return chain_words(
        HiddenChain(
            shortened(one.name, LONG),
            one.states,
            tuple(drives),
            one.transition,
            one.share,
            one.window,
            one.posterior,
            {},
            shortened(one.of, LONG),
            one.depth,
        )
    )


def verdict_part(found: TimeFindings, kept: TimeSummary) -> Part:
    """The headline, the numbers to see first, a sentence for each hidden variable, what would change our mind."""
    facts = [
        ("sequences", f"{kept.sequences:,}"),
        ("slices", f"{found.n_slices:,}"),
        ("columns", f"{kept.columns:,}"),
        ("empty cells", f"{kept.holes:,}"),
    ]
    if found.hidden:
        facts.append(("hidden", str(len(found.hidden))))
        if found.tested:
            facts.append(("gain, bits a slice", f"{found.gain:+.3f}"))
    blocks: list[Block] = [Words(summary(found), strong=True), Facts(tuple(facts))]
    blocks += [Words(short_chain(one)) for one in found.hidden[:8]]
    blocks.append(Words(observed_words(found)))
    if not found.status.converged:
        blocks.append(Words(f"Note: {found.status}."))
    if found.hidden and found.accepted:
        blocks.append(Words(NO_PROOF))
    blocks += [Words("What would change our mind:"), Items(tuple(_doubts(found, kept)))]
    return Part("verdict", "The verdict", blocks)


def _doubts(found: TimeFindings, kept: TimeSummary) -> Iterator[str]:
    if found.hidden and found.tested and not found.accepted:
        yield "more slices, or new sequences, on which the memories predict clearly better than the columns' own past"
        yield 'the default method, which looks for states that last, not only for copies (leave method="boyen1999" out)'
        return
    if found.hidden and found.tested:
        yield "new sequences of the same kind on which the model with it predicts no better than the one without"
        lost = sum(fold.hidden is not None and fold.hidden >= fold.observed for fold in found.folds)
        if lost:
            yield f"the parts that were held out: in {lost} of {len(found.folds)} the hidden variables gain nothing"
        yield "a longer memory of the columns themselves, beyond the lags and memories tried here"
        yield "a measured column that, once added, tells the state: it would be the better name"
        if kept.sequences == 1:
            yield "a second sequence: what lasts in one sequence may be that sequence's own history, not a law"
        else:
            yield "sequences that are not alike: a state that never changes within one only tells sequences apart"
        return
    if found.hidden:
        yield "a test on held-out blocks: it was left out here, so this is not evidence yet (run it with evidence=True)"
        return
    yield "more slices: a regime that changes only once or twice cannot be told from chance"
    yield "columns that were not measured: something hidden shows itself only through several columns, or by lasting"
    yield "finer values or shorter steps: columns cut into few bins hide what a hidden variable does to them"


def evidence_part(found: TimeFindings) -> Part:
    """Blocked cross-validation against the best model without, part by part, and every model that was tried."""
    blocks: list[Block] = []
    if found.tested:
        blocks.append(
            Words(
                "Every model was fitted with a part of the slices left out, in blocks, and then asked to predict them. "
                f"What is hidden is believed only if it beats the best model without ({found.observed_name}); {ASKED}."
            )
        )
    else:
        blocks.append(Words("Nothing was held out in this run: bits below are of the sequences learnt from."))
    figures = [pictured(tried_chart(found.table), _caption(found))]
    if any(fold.hidden is not None for fold in found.folds):
        blocks.append(_folds(found))
        what = "the hidden variables" if found.hidden else "the best attempt with something hidden"
        figures.insert(0, pictured(folds_chart(found.folds), f"By part held out: what {what} gained."))
    blocks += [Figures(tuple(figures)), _tried(found)]
    return Part("evidence", "Why we believe it", blocks)


def _caption(found: TimeFindings) -> str:
    where = "on blocks that were held out" if found.tested else "of the sequences learnt from"
    return f"Bits a slice {where}: fewer is better."


def _folds(found: TimeFindings) -> Grid:
    rows = []
    for number, fold in enumerate(found.folds, start=1):
        hidden = fold.observed if fold.hidden is None else fold.hidden
        rows.append(
            (str(number), f"{fold.slices:,}", f"{fold.observed:.4f}", f"{hidden:.4f}", f"{fold.observed - hidden:+.4f}")
        )
    head = ("part held out", "slices", "bits without", "bits with", "gain")
    return Grid(head, tuple(rows), f"Without: {found.observed_name}.")


def _tried(found: TimeFindings) -> Grid:
    rows = tuple(
        (
            shortened(row.name, 60),
            f"{row.bits:.4f}",
            f"{row.gain:+.4f}" if row.against else "–",
            f"{row.z:.1f}" if row.against and found.tested else "–",
            shortened(row.against or "–", 40),
            "yes" if row.accepted else "no",
        )
        for row in found.table
    )
    head = ("model", "bits", "gain", "z", "against", "clearly better")
    return Grid(head, rows, "z: the gain in standard errors over blocks.", words=(0, 4, 5), stack=True)


def states_part(found: TimeFindings) -> Part:
    """For each hidden variable its states in a table, and their profiles."""
    if not found.hidden:
        return Part("states", "What each state means", [Words("Nothing hidden was found, so there are no states.")])
    labels = {variable.name: variable.states for variable in found.variables}
    blocks: list[Block] = []
    for one in found.hidden:
        states = meanings(one, labels)
        blocks.append(states_grid(one.name, states, abbreviated(one.drives, LONG), "slices"))
        worth = [max(float(share) * found.n_slices, 1.0) for share in one.share]
        figures = [
            pictured(profile_chart(each), f"{shortened(one.name, LONG)}: {each.title}. {INTERVALS}")
            for each in share_profiles(states, worth)
        ]
        if figures:
            blocks.append(Figures(tuple(figures)))
    return Part("states", "What each state means", blocks)


def meanings(one: HiddenChain, labels: Mapping[str, Sequence[Label]]) -> tuple[State, ...]:
    """What marks each state of a hidden variable, from the columns that it drives."""
    shares = {name: table.T for name, table in one.profiles.items()}
    overall = {name: table @ one.share for name, table in shares.items()}
    names = one.labels or tuple(range(one.states))
    return tuple(marked(labels, names[k], float(one.share[k]), k, shares, overall) for k in range(one.states))


def remembered_part(found: TimeFindings) -> Part:
    """What is remembered, for how long, and by which columns."""
    blocks: list[Block] = []
    if found.hidden:
        rows = []
        for one in found.hidden:
            what = f"{one.of}, {one.depth} before" if one.of else "a state of its own"
            lasts = ", ".join(map(slices_text, one.dwell))
            rows.append((shortened(one.name, LONG), shortened(what, LONG), lasts, _names(one.drives)))
        blocks.append(
            Grid(
                ("hidden", "remembers", "lasts (slices, by state)", "drives"),
                tuple(rows),
                words=(0, 1, 2, 3),
                stack=True,
            )
        )
    lags = [row for row in found.table if not row.hidden and row.accepted and "memories" not in row.name]
    if found.method == "default" and lags:
        blocks.append(
            Words(
                f"Of the columns themselves: {observed_words(found)} Best without hidden variables: "
                f"{found.observed_name}."
            )
        )
    blocks.append(_asked(found))
    if found.memories:
        said = tuple(f"{memory.name}: {MEANING[memory.kind]}" for memory in found.memories[:20])
        blocks += [Words("Memories that clearly help, each computed from the slices before:"), Items(said)]
    elif found.method == "default":
        blocks.append(Words("No memory beyond the lags (averages, run lengths, counters) clearly helps."))
    if found.steps:
        blocks += [Words("The rounds of the loop:"), Items(found.steps)]
    return Part("remembered", "What is remembered, and for how long", blocks)


def _asked(found: TimeFindings) -> Grid:
    rows = []
    model = found.model
    for variable in found.variables:
        name = variable.name
        if isinstance(model, DynamicNetwork):
            asked = [slice_name(*node) for node in model.parents(name)]
            back = max((lag for _, lag in model.parents(name)), default=0)
        else:
            features = model.asked(name)
            asked = [slice_name(f.variable, f.lag) if not isinstance(f, Memory) else f.name for f in features]
            back = max((f.lag for f in features if not isinstance(f, Memory)), default=0)
        rows.append((shortened(name, LONG), _names(asked) or "nothing", str(back)))
    return Grid(("column", "depends on", "slices back"), tuple(rows[:40]), _more(len(rows)), words=(0, 1), stack=True)


def _more(rows: int) -> str:
    return f"The first 40 of {several(rows, 'column')}." if rows > 40 else ""


def _names(names: Sequence[str]) -> str:
    said = [shortened(name, LONG) for name in names[:12]]
    return "; ".join(said) + (f"; {len(names) - 12} more" if len(names) > 12 else "")


def certainty_words(one: HiddenChain, kept: TimeSummary) -> str:
    """How sure slices are of their state."""
    sure = kept.certainty.get(one.name)
    return "" if sure is None else f"A slice's most probable state has {percent(sure)} on average."
