"""`find_hidden`: where hidden variables sit [elidan2000], with the strongest search as their rival."""

from __future__ import annotations

import os
from typing import Any, Literal, get_args

from leverrier.data.reading.read_table import as_table
from leverrier.discovery.findings import Findings
from leverrier.discovery.network_codecs import identity
from leverrier.discovery.places.search import practise, run_search
from leverrier.discovery.plan import Construction, Method, Plan
from leverrier.errors import OptionError
from leverrier.learning.structure.learn_structure import Families
from leverrier.learning.structure.score import BDe, Score
from leverrier.run.event import Progress
from leverrier.run.pool import prepare
from leverrier.run.run import Run


def find_hidden(
    data: Any,
    method: Method = "region",
    cardinality: int | Literal["auto"] = "auto",
    max_hidden: int | None = 3,
    *,
    score: Score | None = None,
    families: Families = "tables",
    construction: Construction = "default",
    max_parents: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    jobs: int = 1,
    progress: Progress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Findings:
    """Hidden variables that raise the score above the best network without them, untested: see `discover`.

    method        "fixed": EM on the graph a candidate suggests; "region": structural EM around it; "full": everywhere
    cardinality   how many states, or "auto"
    families      "tables", as in the source: both sides are tables, so that the gain is like for like; "auto" lets the
                  rival's families be of any kind, as `discover` does: a gain over it is harder won
    construction  how a candidate is put in: "default" (docs/find-hidden.md) or the source's, "elidan2000"
    budget        seconds; what was found by then is returned
    jobs          processes that candidates are shared out to; the answer does not depend on them
    checkpoint    a folder for what is done so far; with resume=True the search goes on from there, bit for bit the same
    """
    for name, value, allowed in (
        ("method", method, Method),
        ("construction", construction, Construction),
        ("families", families, Families),
    ):
        if value not in get_args(allowed):
            raise OptionError(f"{name}={value!r}: expected one of {', '.join(map(repr, get_args(allowed)))}")
    if cardinality != "auto" and (not isinstance(cardinality, int) or cardinality < 2):
        raise OptionError(f'cardinality={cardinality!r}: expected "auto" or a number of states, at least 2')
    if max_hidden is not None and max_hidden < 0:
        raise OptionError(f"max_hidden={max_hidden!r}: expected 0 or more, or None for as many as gain")
    whole = Run.of(budget, jobs=jobs, progress=progress)
    table, rule = as_table(data), score or BDe()
    kinds = families == "auto"
    most = len(table.variables) if max_hidden is None else max_hidden
    plan = Plan(method, construction, cardinality, most, max_parents=max_parents, kinds=kinds, seed=seed)
    with whole.kept_in(checkpoint, resume, "find_hidden", *identity(table), plan, rule) as run:
        prepare(jobs, practise)
        return run_search(table, rule, plan, run)
