"""What the experiments of [elidan2001 section 5] on several hidden variables, and with FindHidden, say."""

from __future__ import annotations

import numpy as np

from experiments.charts import dots
from experiments.elidan2001_claims import Part
from experiments.elidan2001_states import FOUR
from experiments.experiment import Claim, Figure, Json, Section, none_run, not_run
from leverrier.report.parts.page_parts import Grid

SAME = 1e-9


def figure_5(found: dict[str, Json]) -> Part:
    names = (
        "Figure 5: four interacting hidden variables get close to their 3, 2, 4 and 3 states",
        "Figure 5: with these numbers of states the model predicts better than with binary ones",
        "Figure 5: with binary ones structural EM leaves the true graph, with agglomeration hardly",
    )
    sources = ("close, with extra states", "agglomeration best, then original, then binary", "by picture")
    if not found:
        return None, none_run(names, sources)
    count = len(found)
    near = sum(all(abs(k - FOUR[name]) <= 1 for name, k in each["states"].items()) for each in found.values())
    exact = sum(each["states"] == FOUR for each in found.values())
    mean = {
        label: float(np.mean([each["test"][label] for each in found.values()]))
        for label in next(iter(found.values()))["test"]
    }
    better = sum(each["test"]["agglomeration"] <= each["test"]["binary"] for each in found.values())
    claims = [
        Claim(names[0], sources[0], f"exact in {exact}, within one state in {near} of {count} samples", near == count),
        Claim(
            names[1],
            sources[1],
            f"{better} of {count} samples; test log-loss "
            + ", ".join(f"{label} {value:.4f}" for label, value in mean.items()),
            better == count,
        ),
    ]
    rows = tuple((label, f"{value:.4f}") for label, value in mean.items())
    grids = [Grid(("model", "test log-loss (nats a row)"), rows, f"Mean of {count} samples of 10,000 rows")]
    arcs = [each["arcs"] for each in found.values() if "arcs" in each]
    changed = {kind: [each[kind] for each in arcs] for kind in ("agglomeration", "binary")}
    if changed["binary"]:
        sums = {kind: sum(n["removed"] + n["added"] for n in lines) for kind, lines in changed.items()}
        claims.append(
            Claim(
                names[2],
                sources[2],
                f"arcs removed or added in {len(changed['binary'])} samples: "
                f"agglomeration {sums['agglomeration']}, binary {sums['binary']}",
                sums["agglomeration"] < sums["binary"],
            )
        )
        lines = tuple(
            (kind, *(" ".join(str(n[way]) for n in each) for way in ("removed", "added")))
            for kind, each in changed.items()
        )
        grids.append(
            Grid(
                ("hidden variables", "arcs removed, by sample", "arcs added"),
                lines,
                "Structural EM from the true graph",
                words=(0, 1, 2),
            )
        )
    else:
        claims.append(not_run(names[2], sources[2], "structural EM is part of the full settings"))
    words = ("The source draws its network without its tables; ours: h0 → h1, h0 → h2, {h1, h2} → h3, columns below.",)
    return Section("Figure 5: four interacting hidden variables", words, tuple(grids)), claims


def figure_6(found: dict[str, Json], quick: bool) -> Part:
    names = (
        "Figure 6: the network with a hidden variable predicts better than the one without",
        "Figure 6: with agglomeration at least as good as a binary hidden variable in test log-loss",
    )
    sources = ("in all cases", "better, or equal where it says two states")
    if not found:
        return None, none_run(names, sources)
    rows, picture = [], []
    over, better, worse = 0, 0, []
    for case, each in found.items():
        gains = {kind: each["baseline test"] - each[kind]["test"] for kind in ("binary", "agglomeration")}
        picture += [(case, kind, gain) for kind, gain in gains.items()]
        over += gains["agglomeration"] > 0
        fine = gains["agglomeration"] >= gains["binary"] - SAME
        better += fine
        worse += [] if fine else [case]
        rows.append(
            (
                case,
                str(each.get("true", "–")),
                str(each["agglomeration"]["states"]),
                f"{each['baseline test']:.4f}",
                f"{gains['binary']:+.4f}",
                f"{gains['agglomeration']:+.4f}",
                f"{each['binary']['score'] - each['baseline']:+.1f}",
                f"{each['agglomeration']['score'] - each['baseline']:+.1f}",
            )
        )
    count = len(found)
    strong = "our rival is the strongest search, not plain hill-climbing: elidan2000 says what of the gain was repair"
    chosen = "the number of states is chosen by score on the training rows"
    claims = [
        Claim(names[0], sources[0], f"{over} of {count}", over == count, "" if over == count else strong),
        Claim(
            names[1],
            sources[1],
            f"{better} of {count}" + (f"; worse: {', '.join(worse)}" if worse else ""),
            better == count,
            chosen if worse else "",
        ),
    ]
    head = ("case", "true", "states", "log-loss without", "binary", "agglomeration", "score, binary", "score, aggl.")
    small = "; the news with 40 of its 100 columns" if quick else ""
    grid = Grid(head, tuple(rows), f"Test log-loss gained (nats a row) and score (nats) over no hidden variable{small}")
    figure = Figure(
        "figure-6",
        dots(picture, "test log-loss gained (nats a row)", ("binary", "agglomeration")),
        "Figure 6: FindHidden with a binary hidden variable and with agglomeration",
    )
    return Section("Figure 6: FindHidden with and without agglomeration", (), (grid,), (figure,)), claims
