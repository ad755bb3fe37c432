"""How many states a hidden variable has, in words."""

from __future__ import annotations

from math import nan

import numpy as np

from leverrier.discovery.states.cardinality_result import Cardinality, Scores
from leverrier.discovery.states.refinement import POSITIVE, distinguishable


def all_words(c: Cardinality) -> str:
    """The answer, the scores it rests on, and what was noticed."""
    return "\n".join([answer_words(c), *_table(c), *c.notes])


def answer_words(c: Cardinality) -> str:
    """The answer in a sentence or two."""
    said = [_answer(c)]
    merging = c.agglomeration.best()
    if c.refinement is None:
        said.append("By merging alone, without EM.")
    elif c.refinement.rule.brief:
        said.append(f"By merging and a few steps of EM (merging alone would say {merging}).")
    elif merging != c.states and c.together is None:
        said.append(f"Merging alone would say {merging}: EM decides.")
    most = distinguishable(c.agglomeration.first)
    if 1 < most <= c.states:
        said.append(
            f"It has one child and {most:.0f} configurations of its parents, so more than {most:.0f} states "
            "could never be told apart."
        )
    if not c.status.converged:
        said.append(f"The search {c.status}.")
    return " ".join(said)


def _answer(c: Cardinality) -> str:
    other = c.runner_up
    if c.collapses:
        said = f"{c.hidden} collapses: the data do not show this variable (1 state)."
        if other is None:
            return said
        if c.lead < 0:
            return f"{said} {other} states are {-c.lead:.1f} nats better, too little to claim it."
        return f"{said} {other} states would lose {c.lead:.1f} nats."
    said = f"{c.hidden} has {c.states} states"
    if c.together is not None:
        rest = "" if other is None else f", {c.lead:.1f} nats better than {other} with the others as they are"
        return f"{said}{rest}."
    said += f", {c.gain:.1f} nats better than none"
    if other is None or other == 1:
        return said + "."
    if abs(c.lead) <= POSITIVE:
        return f"{said}; {other} states are about as good ({abs(c.lead):.1f} nats {'less' if c.lead >= 0 else 'more'})."
    return f"{said} and {c.lead:.1f} better than {other}."


def _table(c: Cardinality) -> list[str]:
    """The scores by number of states, relative to the answer's, as lines of text."""
    columns = ["agglomeration"] if c.refinement is None else ["agglomeration", "path", "random", "merged", "evidence"]
    titles = {"agglomeration": "merging", "path": "EM path", "random": "EM random", "merged": "EM merged"}
    shown = [k for k in c.scores if k <= max(c.states + 4, 8)]
    zero = c.scores.get(c.states, Scores(c.states, nan))
    base = {name: zero.bound if name in ("path", "random", "merged") else getattr(zero, name) for name in columns}
    lines = ["  states  " + "".join(f"{titles.get(name, name):>12}" for name in columns)]
    for k in shown:
        cells = [getattr(c.scores[k], name) - base[name] for name in columns]
        mark = "→" if k == c.states else " "
        lines.append(f"{mark} {k:>6}  " + "".join(f"{'–' if np.isnan(x) else f'{x:.1f}':>12}" for x in cells))
    return lines
