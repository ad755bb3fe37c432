"""What the cases of [elidan2000 figure 2] say: tables, figures and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.charts import dots
from experiments.experiment import Claim, Figure, Json, Section, none_run, not_run
from leverrier.report.parts.page_parts import Grid

SEARCHES = ("fixed", "region", "full")
WORDS = ("up", "same", "down")
Floats = NDArray[np.float64]
CLOSE, WIN = 0.5, 3.0
"""Nats: scores nearer than this are the same; and a gain must be larger than this to count (odds of 20)."""


@dataclass(frozen=True)
class Case:
    """One table: every method over the strongest search (`line`), and over plain hill-climbing (`plain`)."""

    key: str
    line: Mapping[str, Json] | None
    plain: Mapping[str, Json] | None

    @property
    def label(self) -> str:
        return self.key.partition(" #")[0]

    @property
    def made_up(self) -> bool:
        return self.line is not None and "original" in self.line

    def gain(self, way: str) -> float:
        """In score over the strongest search (nats)."""
        assert self.line is not None
        return self.line[way]["gain"]

    def test(self, way: str) -> float:
        """In test log-likelihood over the strongest search (nats a row)."""
        assert self.line is not None
        return self.line[way]["test nats a row"]

    @property
    def best(self) -> str:
        """The best of our three variants by score."""
        return max(SEARCHES, key=self.gain)

    def over(self, way: str, what: str = "score") -> float:
        """Over plain hill-climbing: `way` is strongest, source or ours."""
        assert self.plain is not None
        return self.plain[way][what] - self.plain["plain"][what]

    @property
    def repaired(self) -> float:
        """The share of the gain over plain hill-climbing that a stronger search has without a hidden variable."""
        gain = max(self.over("source"), self.over("ours"))
        return min(max(self.over("strongest"), 0.0) / gain, 1.0) if gain > CLOSE else 1.0


def figure_2(cases: Sequence[Case]) -> list[Section]:
    """Both rows of the figure, twice."""
    sections = []
    plain = [case for case in cases if case.plain is not None]
    if plain:
        rows = tuple(
            (
                case.label,
                f"{case.over('strongest'):+.1f}",
                f"{case.over('source'):+.1f}",
                f"{case.over('ours'):+.1f}",
                f"{case.over('strongest', 'test'):+.4f}",
                f"{case.over('source', 'test'):+.4f}",
                f"{case.over('ours', 'test'):+.4f}",
                f"{case.repaired:.0%}",
            )
            for case in plain
        )
        head = (
            "case",
            "strongest",
            "source's way",
            "our way",
            "strongest, test",
            "source's, test",
            "ours, test",
            "repair",
        )
        words = (
            "No-hidden is plain hill-climbing, as in the source. Strongest: a better search, still with no hidden "
            "variable. Source's way: its candidates and construction, a binary hidden variable, the best of its three "
            "variants. Our way: our candidates and construction. Repair: the share of the larger of these two gains "
            "that the stronger search has without any hidden variable.",
        )
        kinds = ("strongest", "source", "ours")
        points = [(case.label, kind, case.over(kind)) for case in plain for kind in kinds]
        chart = dots(points, "score gained (nats)", kinds)
        figures = (Figure("figure-2-plain", chart, "Figure 2, bottom row, over plain hill-climbing"),)
        grid = Grid(head, rows, "Score (nats) and test log-likelihood (nats a row)")
        sections.append(Section("Figure 2 over plain hill-climbing, as in the source", words, (grid,), figures))
    strong = [case for case in cases if case.line is not None]
    if strong:
        sections.append(_strong(strong))
    return sections


def _strong(cases: Sequence[Case]) -> Section:
    ways = [
        way
        for way in (
            "fixed",
            "region",
            "full",
            "fixed, source's construction",
            "region, source's construction",
            "naive",
            "original",
        )
        if any(way in (case.line or {}) for case in cases)
    ]

    def cells(value: Callable[[Case, str], float], form: str) -> tuple[tuple[str, ...], ...]:
        def cell(case: Case, way: str) -> str:
            return format(value(case, way), form) if way in (case.line or {}) else "–"

        return tuple((case.label, *(cell(case, way) for way in ways)) for case in cases)

    grids = (
        Grid(("case", *ways), cells(Case.gain, "+.1f"), "Bottom row: score over the strongest search (nats)"),
        Grid(("case", *ways), cells(Case.test, "+.4f"), "Top row: test log-likelihood (nats a row)"),
    )
    shown = ("fixed", "region", "full", "naive", "original")
    there = [(case, way) for case in cases for way in shown if way in (case.line or {})]
    near = [(case.label, way, max(case.gain(way), -150.0)) for case, way in there]
    tests = [(case.label, way, max(case.test(way), -0.15)) for case, way in there]
    figures = (
        Figure(
            "figure-2-score",
            dots(near, "score gained (nats)", shown),
            "Figure 2, bottom row: score over the strongest search; what is below −150 is drawn there",
        ),
        Figure(
            "figure-2-test",
            dots(tests, "test log-likelihood gained (nats a row)", shown),
            "Figure 2, top row: test log-likelihood; what is below −.15 is drawn there",
        ),
    )
    words = (
        "No-hidden is the strongest search we have, from several seeds, repaired by whatever a hidden variable "
        "shows: what is left is what only a hidden variable gives.",
    )
    return Section("Figure 2 over the strongest search", words, grids, figures)


def meanings(found: Mapping[str, Json]) -> list[Section]:
    """The hidden variable of the stocks in words."""
    said = found.get("stocks")
    if not said:
        return []
    return [Section("The hidden variable of the stocks", (stock_words(said),), (_stock_grid(said),))]


def _stock_grid(said: Mapping[str, Json]) -> Grid:
    states = range(said["states"])
    head = ("stock", *(f"{word} in state {k + 1}" for k in states for word in WORDS))
    rows = tuple(
        (child, *(f"{shares[word][k]:.2f}" for k in states for word in WORDS))
        for child, shares in said["shares"].items()
    )
    return Grid(head, rows)


def _market(said: Mapping[str, Json]) -> dict[str, Floats]:
    """The share of up, same and down in each state, on average over the stocks."""
    return {word: np.mean([shares[word] for shares in said["shares"].values()], axis=0) for word in WORDS}


def stock_words(said: Mapping[str, Json]) -> str:
    """Which stocks, and what each state is."""
    mean = _market(said)
    parts = [
        f"state {k + 1} ({said['weights'][k]:.0%} of days): up {mean['up'][k]:.0%}, same {mean['same'][k]:.0%}, "
        f"down {mean['down'][k]:.0%}"
        for k in range(said["states"])
    ]
    return (
        f"It has {said['states']} states and is the parent of {', '.join(said['children'])}; on average over them, "
        f"{'; '.join(parts)}. {said['arcs among children']} arcs remain among its children."
    )


def claims(cases: Sequence[Case], meaning: Mapping[str, Json]) -> list[Claim]:
    """Every claim of the source's section 4, decided by our numbers."""
    lines = [case for case in cases if case.line is not None]
    plain = [case for case in cases if case.plain is not None]
    return [*_over_plain(plain), *_over_strongest(lines), *_variants(lines), *_strawmen(lines), _stocks(meaning)]


def _over_plain(cases: Sequence[Case]) -> list[Claim]:
    names = (
        "Hidden outperforms No-hidden (plain hill-climbing) in score",
        "Hidden outperforms No-hidden (plain hill-climbing) on test data",
        "Part of that gain was search repair: a stronger search has it without a hidden variable (our claim)",
    )
    sources = ("in most cases", "in most cases", "–")
    if not cases:
        return none_run(names, sources)
    count = len(cases)
    theirs, ours = (sum(case.over(way) > CLOSE for case in cases) for way in ("source", "ours"))
    tested = {way: sum(case.over(way, "test") > 0 for case in cases) for way in ("source", "ours")}
    share = float(np.median([case.repaired for case in cases]))
    return [
        Claim(names[0], sources[0], f"our way {ours}, the source's way {theirs} of {count}", ours > count / 2),
        Claim(
            names[1],
            sources[1],
            f"our way {tested['ours']}, the source's way {tested['source']} of {count}",
            tested["ours"] > count / 2,
        ),
        Claim(
            names[2],
            sources[2],
            f"median {share:.0%} of the gain, from {min(c.repaired for c in cases):.0%} to "
            f"{max(c.repaired for c in cases):.0%}",
            share > 0,
        ),
    ]


def _over_strongest(cases: Sequence[Case]) -> list[Claim]:
    name = f"Hidden outperforms the strongest search in score, by more than {WIN:.0f} nats"
    tested = "Where Hidden outperforms the strongest search in score it also predicts better"
    sources = ("in most cases, over plain hill-climbing", "in most cases, over plain hill-climbing")
    if not cases:
        return [not_run(name, sources[0]), not_run(tested, sources[1])]
    count = len(cases)
    won = [case for case in cases if case.gain(case.best) > WIN]
    better = sum(case.test(case.best) > 0 for case in won)
    lost = [case.label for case in cases if case not in won]
    why = f"not in {', '.join(lost)}: so many rows show too little of it" if lost else ""
    gains = ", ".join(f"{case.label} {case.gain(case.best):+.0f}" for case in won)
    return [
        Claim(name, sources[0], f"{len(won)} of {count}: {gains}", len(won) > count / 2, why),
        Claim(tested, sources[1], f"{better} of {len(won)}", 2 * better > len(won)),
    ]


def _variants(cases: Sequence[Case]) -> list[Claim]:
    names = (
        "The variants with structure search score better than the fixed one",
        "The variants with structure search predict better than the fixed one",
        "Searching everywhere seldom beats searching around it, at more cost",
    )
    sources = ("in all experiments, significantly", "much better", "often ten times the cost")
    if not cases:
        return none_run(names, sources)
    gained = [case for case in cases if case.gain(case.best) > WIN]
    count = len(gained)
    score = sum(max(case.gain("region"), case.gain("full")) >= case.gain("fixed") - CLOSE for case in gained)
    strict = sum(max(case.gain("region"), case.gain("full")) > case.gain("fixed") + CLOSE for case in gained)
    test = sum(max(case.test("region"), case.test("full")) >= case.test("fixed") for case in gained)
    more = sum(case.gain("full") > case.gain("region") + CLOSE for case in gained)
    times = [case.line["full"]["seconds"] / max(case.line["region"]["seconds"], 0.1) for case in gained if case.line]
    worse = [case.label for case in gained if max(case.gain("region"), case.gain("full")) < case.gain("fixed") - CLOSE]
    return [
        Claim(
            names[0],
            sources[0],
            f"better in {strict}, not worse in {score} of the {count} cases with a gain",
            bool(gained) and score == count,
            f"worse in {', '.join(worse)}" if worse else "",
        ),
        Claim(names[1], sources[1], f"{test} of {count}", 2 * test > count),
        Claim(
            names[2],
            sources[2],
            f"better in {more} of {count}, at {float(np.median(times or [0])):.1f} times the cost (median)",
            2 * more < count,
        ),
    ]


def _strawmen(cases: Sequence[Case]) -> list[Claim]:
    names = (
        "Hidden scores better than Original",
        "Original predicts better than Hidden",
        "Hidden scores better than Naive",
        "Hidden scores better than Naive on every real table",
    )
    sources = ("12 of 13", "significantly, in the artificial sets", "usually", "particularly there")
    made = [case for case in cases if case.made_up]
    real = [case for case in cases if not case.made_up]
    if not made:
        return none_run(names, sources)
    hidden = {case.key: max(case.gain(case.best), 0.0) for case in cases}
    score = sum(hidden[case.key] > case.gain("original") for case in made)
    test = sum(case.test("original") > max(case.test(case.best), 0.0) for case in made)
    beaten = sum(hidden[case.key] > case.gain("naive") for case in cases)
    wins = sum(hidden[case.key] > case.gain("naive") for case in real)
    last = (
        Claim(names[3], sources[3], f"{wins} of {len(real)} real tables", wins == len(real))
        if real
        else not_run(names[3], sources[3], "no real data")
    )
    return [
        Claim(names[0], sources[0], f"{score} of {len(made)}", 2 * score > len(made)),
        Claim(names[1], sources[1], f"{test} of {len(made)}", 2 * test > len(made)),
        Claim(names[2], sources[2], f"{beaten} of {len(cases)}", 2 * beaten > len(cases)),
        last,
    ]


def _stocks(meaning: Mapping[str, Json]) -> Claim:
    claim = "The stocks' hidden variable is the parent of several of them: a strong against a stationary market"
    source = "parent of Microsoft, Intel, Dell, Cisco, Yahoo; binary"
    said = meaning.get("stocks")
    if said is None:
        return not_run(claim, source)
    if not said:
        return Claim(claim, source, "no hidden variable gained", False)
    mean = _market(said)
    strong = mean["up"] > 1 / 2
    still = mean["same"] > np.maximum(mean["up"], mean["down"])
    holds = len(said["children"]) >= 3 and bool(strong.any()) and bool(still.any())
    why = "" if holds else "no state in which most of them rise beside one in which most stand still"
    return Claim(claim, source, stock_words(said), holds, why)
