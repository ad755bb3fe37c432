"""Pictures of how many states were found: the merge tree, scores by number of states, deviation against rows.

Each function gives an Altair chart: shown in notebooks as it is, or `chart.save("tree.png")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.discovery.states.agglomeration import Agglomeration
from leverrier.discovery.states.cardinality_result import Cardinality
from leverrier.errors import OptionError
from leverrier.report.charts.merge_chart import leaf_order
from leverrier.report.charts.palette import HIDDEN, INK, QUIET, STATES

if TYPE_CHECKING:
    import altair

MOST_LEAVES = 24
"""Of a larger tree the top is drawn."""
LONGEST_LABEL = 44
DEVIATIONS = {
    "exact": STATES[0],
    "one less": STATES[4],
    "collapsed to one": STATES[2],
    "fewer still": QUIET,
    "more": HIDDEN,
}
KINDS = {
    "agglomeration": "merging (completed data)",
    "path": "EM from the merge path",
    "random": "EM from random starts",
    "evidence": "evidence",
}
COLOURS = (QUIET, STATES[0], STATES[4], HIDDEN)
DASHES = ([1, 0], [1, 0], [4, 3], [1, 0])
SHAPES = ("circle", "square", "triangle-up", "diamond")


def merge_tree(found: Cardinality, most_leaves: int = MOST_LEAVES) -> altair.TopLevelMixin:
    """The merge tree with the change of score at each merge; diamonds are the states chosen [elidan2001 figure 2]."""
    import altair as alt

    if most_leaves < 2:
        raise OptionError(f"most_leaves={most_leaves}: expected at least 2")
    tree = _Tree(found.agglomeration, max(min(most_leaves, found.agglomeration.n_first), found.states))
    chosen = set(found.agglomeration.nodes(found.states))
    top = max(tree.height.values())
    cut = top - found.states + (1.78 if found.states > 1 else 1.5)  # before the merge that would leave one state fewer
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.7, tree.width - 0.3]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-0.6, top + 0.8]))
    lines = (
        alt.Chart(alt.Data(values=tree.segments()))
        .mark_rule(color=QUIET, strokeWidth=1.4)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    )
    marks = [tree.mark(node, node in chosen) for node in tree.x]
    points = (
        alt.Chart(alt.Data(values=marks))
        .mark_point(filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "kind:N", scale=alt.Scale(domain=["state", "node"], range=["diamond", "circle"]), legend=None
            ),
            color=alt.Color("kind:N", scale=alt.Scale(domain=["state", "node"], range=[HIDDEN, INK]), legend=None),
            size=alt.condition("datum.kind == 'state'", alt.value(140), alt.value(28)),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("rows:Q", format=",.0f")],
        )
    )
    merged = [mark for mark in marks if "gain" in mark]
    gains = (
        alt.Chart(alt.Data(values=merged))
        .mark_text(align="left", dx=6, dy=-7, fontSize=10, color=INK)
        .encode(x=x, y=y, text="gain:N")
    )
    leaves = [mark for mark in marks if "gain" not in mark]
    labels = (
        alt.Chart(alt.Data(values=leaves))
        .mark_text(angle=270, align="right", baseline="middle", dy=0, dx=-8, fontSize=10, color=INK, limit=320)
        .encode(x=x, y=y, text="label:N")
    )
    line = alt.Chart(alt.Data(values=[{"y": cut}])).mark_rule(color=HIDDEN, strokeDash=[6, 4]).encode(y=y)
    said = f"{found.hidden}: {found.states} state{'s' * (found.states > 1)}"
    return (
        (lines + line + points + gains + labels)
        .properties(
            width=max(360, 26 * tree.width),
            height=max(260, 17 * (top + 1)),
            title=alt.TitleParams(said, subtitle=tree.subtitle, anchor="start"),
        )
        .configure_view(stroke=None, clip=False)
    )


def score_by_states(found: Cardinality, most_states: int | None = None) -> altair.TopLevelMixin:
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
    return (chosen + lines + points).properties(width=460, height=300, title=title)


def deviation_chart(answers: Iterable[tuple[int, str, int, int]]) -> altair.TopLevelMixin:
    """(rows, variable, states found, true states) as shares of variables by number of rows [elidan2001 figure 4]."""
    import altair as alt

    seen: dict[int, list[str]] = {}
    for rows, _, found, true in answers:
        seen.setdefault(rows, []).append(_deviation(found, true))
    values = [
        {"rows": rows, "kind": name, "share": kinds.count(name) / len(kinds)}
        for rows, kinds in sorted(seen.items())
        for name in DEVIATIONS
    ]
    colours = alt.Scale(domain=list(DEVIATIONS), range=list(DEVIATIONS.values()))
    ends = [min(seen, default=1), max(seen, default=10)]
    title = alt.TitleParams("States found against the truth", anchor="start")
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "rows:Q",
                scale=alt.Scale(type="log", domain=ends, nice=False),
                title="rows",
                axis=alt.Axis(values=sorted(seen), format=",", grid=False),
            ),
            y=alt.Y("share:Q", title="share of variables", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("kind:N", title=None, scale=colours),
        )
        .properties(width=460, height=280, title=title)
    )


def _deviation(found: int, true: int) -> str:
    if found == true:
        return "exact"
    if found > true:
        return "more"
    if found == 1:
        return "collapsed to one"
    return "one less" if found == true - 1 else "fewer still"


def _above(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without those so far below the best that the rest would be one flat line."""
    scores = np.array([row["score"] for row in rows])
    best = scores.max()
    near = np.sort(best - scores)
    reach = 6 * max(near[len(near) // 2], 10.0)
    return [row for row in rows if row["score"] >= best - reach]


class _Tree:
    """Where the nodes of the upper part of a merge tree are drawn."""

    def __init__(self, found: Agglomeration, leaves: int) -> None:
        self.found = found
        self.merges = found.merges[found.n_first - leaves :]
        self.leaves = found.nodes(leaves)
        self.height = dict.fromkeys(self.leaves, 0)
        self.height |= {merge.node: place for place, merge in enumerate(self.merges, start=1)}
        parts = {merge.node: (merge.left, merge.right) for merge in self.merges}
        order = leaf_order(parts, [self.merges[-1].node] if self.merges else self.leaves)
        self.width = len(order)
        self.x: dict[int, float] = {leaf: float(place) for place, leaf in enumerate(order)}
        for merge in self.merges:
            self.x[merge.node] = (self.x[merge.left] + self.x[merge.right]) / 2
        self._members = self._configurations()

    def _configurations(self) -> dict[int, list[int]]:
        """The configurations of the blanket in each node."""
        members: dict[int, list[int]] = {}
        for configuration, state in enumerate(self.found.place.tolist()):
            members.setdefault(state, []).append(configuration)
        for merge in self.found.merges:
            members[merge.node] = members[merge.left] + members[merge.right]
        return members

    def segments(self) -> list[dict[str, float]]:
        lines = []
        for merge in self.merges:
            level = float(self.height[merge.node])
            for part in (merge.left, merge.right):
                x = self.x[part]
                lines.append({"x": x, "x2": x, "y": float(self.height[part]), "y2": level})
            lines.append({"x": self.x[merge.left], "x2": self.x[merge.right], "y": level, "y2": level})
        return lines

    def mark(self, node: int, chosen: bool) -> dict[str, Any]:
        members = self._members[node]
        mark: dict[str, Any] = {
            "x": self.x[node],
            "y": float(self.height[node]),
            "kind": "state" if chosen else "node",
            "rows": float(self.found.first.weights[members].sum()),
            "label": self._label(members),
        }
        if self.height[node]:
            mark["gain"] = f"{self.merges[self.height[node] - 1].gain:+.1f}".replace("-", "−")
        return mark

    def _label(self, members: list[int]) -> str:
        """The blanket's states in the most frequent configuration, and how many more there are."""
        first = self.found.first
        most = max(members, key=lambda m: first.weights[m])
        states = [("?" if state is None else str(state)) for state in first.describe(most).values()]
        more = f" +{len(members) - 1}" if len(members) > 1 else ""
        text = " ".join(states)
        room = LONGEST_LABEL - len(more)
        return (text if len(text) <= room else text[: room - 1] + "…") + more

    @property
    def subtitle(self) -> list[str]:
        first = self.found.first
        names = ", ".join(first.blanket[:6]) + (" …" if len(first.blanket) > 6 else "")
        shown, every = self.width - 1, self.found.n_first - 1
        part = "" if shown == every else f"; the last {shown} of {every} merges"
        return [f"leaves: {names}{part}", "numbers: change of score (nats); diamonds and dashes: the states chosen"]
