"""Pictures of how many states were found: the merge tree, scores by number of states.

Each function gives an Altair chart: shown in notebooks as it is, or `chart.save("tree.png")`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.discovery.states.cardinality_result import Cardinality
from leverrier.discovery.states.merge_tree import tree_of
from leverrier.errors import OptionError
from leverrier.report.charts.merge_chart import merge_chart
from leverrier.report.charts.palette import HIDDEN, INK, QUIET, STATES
from leverrier.report.charts.pictures import Size, styled

if TYPE_CHECKING:
    import altair

MOST_LEAVES = 24
"""Of a larger tree the top is drawn."""
KINDS = {
    "agglomeration": "merging (completed data)",
    "path": "EM from the merge path",
    "random": "EM from random starts",
    "evidence": "evidence",
}
COLOURS = (QUIET, STATES[0], STATES[4], HIDDEN)
DASHES = ([1, 0], [1, 0], [4, 3], [1, 0])
SHAPES = ("circle", "square", "triangle-up", "diamond")


def merge_tree(found: Cardinality, most_leaves: int = MOST_LEAVES, size: Size = "notebook") -> altair.TopLevelMixin:
    """The merge tree with the change of score at each merge; orange are the states chosen [elidan2001 figure 2]."""
    import altair as alt

    if most_leaves < 2:
        raise OptionError(f"most_leaves={most_leaves}: expected at least 2")
    path = found.agglomeration
    leaves = max(min(most_leaves, path.n_first), found.states)
    said = f"{found.hidden}: {found.states} state{'s' * (found.states > 1)}"
    names = ", ".join(path.first.blanket[:6]) + (" …" if len(path.first.blanket) > 6 else "")
    part = "" if leaves == path.n_first else f"; the last {leaves - 1} of {path.n_first - 1} merges"
    told = [f"leaves: {names}{part}", "numbers: change of score (nats); orange: the states chosen"]
    title = alt.TitleParams(said, subtitle=told, anchor="start", color=INK, subtitleColor=INK)
    return merge_chart(tree_of(path, leaves, few=0), found.states, size).properties(title=title)


def score_by_states(
    found: Cardinality, most_states: int | None = None, size: Size = "notebook"
) -> altair.TopLevelMixin:
    """Score against the number of states: merging, EM from its path, EM at random, evidence [elidan2001 figure 3]."""
    import altair as alt

    refined = found.refinement is not None
    last = most_states or max(max(found.scores) if refined else 0, min(found.agglomeration.best() + 6, 20), 8)
    completed = dict(found.path)
    rows: list[dict[str, Any]] = []
    for k in range(1, min(last, found.agglomeration.n_first) + 1):
        values = {"agglomeration": completed[k]}
        if refined and k in found.scores:
            values |= {kind: getattr(found.scores[k], kind) for kind in ("path", "random", "evidence")}
        rows += [
            {"states": k, "kind": KINDS[kind], "score": value} for kind, value in values.items() if not np.isnan(value)
        ]
    kinds = [name for name in KINDS.values() if any(row["kind"] == name for row in rows)]
    base = alt.Chart(alt.Data(values=_above(rows))).encode(
        x=alt.X("states:O", title="states", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", title="score (nats)", scale=alt.Scale(zero=False), axis=alt.Axis(format=",.0f")),
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=kinds, range=list(COLOURS[: len(kinds)])),
            legend=alt.Legend(orient="bottom", columns=2, labelLimit=240),
        ),
    )
    chosen = (
        alt.Chart(alt.Data(values=[{"states": found.states}]))
        .mark_rule(color=HIDDEN, strokeDash=[6, 4])
        .encode(x="states:O")
    )
    title = alt.TitleParams(
        f"{found.hidden}: {found.states} state{'s' * (found.states > 1)}",
        anchor="start",
        subtitle="the families that hold the variable; far lower scores are cut off",
    )
    dashes = alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=list(DASHES[: len(kinds)])), title=None)
    shapes = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=list(SHAPES[: len(kinds)])), title=None)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dashes)
    points = base.mark_point(size=70, strokeWidth=2, opacity=1).encode(shape=shapes)
    return styled((chosen + lines + points).properties(title=title), 300, size)


def _above(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without those so far below the best that the rest would be one flat line."""
    scores = np.array([row["score"] for row in rows])
    best = scores.max()
    near = np.sort(best - scores)
    reach = 6 * max(near[len(near) // 2], 10.0)
    return [row for row in rows if row["score"] >= best - reach]
