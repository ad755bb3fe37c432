"""The verb `classes`: latent classes with predictors, outcomes, survey designs and groups, and their page."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import leverrier as lv
from leverrier.cli.help_pages import Verb
from leverrier.cli.page_writing import afterwards, told_as_notes
from leverrier.cli.progress_bar import Interruptible, interrupted
from leverrier.cli.reading_options import Reading, reading
from leverrier.cli.shared_flags import Flags, require_folders, require_network, shared

if TYPE_CHECKING:  # `leverrier --help` must not import numerics
    from leverrier.learning.classes.latent_class_result import LatentClassResult

COLUMNS = "COLUMN,COLUMN"


@click.command(cls=Verb)
@click.argument("table")
@click.option("--states", default="1-6", show_default=True, help="Numbers of classes to try: 3, 1-6 or 2,4.")
@click.option("--starts", type=click.IntRange(1), default=20, show_default=True, help="Random starts for each number.")
@click.option("--predictors", metavar=COLUMNS, help="Columns that explain the class.")
@click.option("--outcomes", metavar=COLUMNS, help="Columns that the class explains.")
@click.option("--steps", type=click.Choice(["1", "ml", "bch"]), help="How they enter (default: 1; bch with outcomes).")
@click.option("--groups", metavar="COLUMN", help="Rows drawn together, such as a household: errors allow for it.")
@click.option("--strata", metavar="COLUMN", help="Strata that the rows were drawn within.")
@click.option("--by-group", metavar="COLUMN", help="Are the classes the same in these groups?")
@click.option(
    "--dependent", multiple=True, metavar="COLUMN,COLUMN", help="A pair that depends within classes, or search."
)
@click.option("--kind", "kinds", multiple=True, metavar="COLUMN=KIND", help="ordinal, poisson, normal, … (repeatable).")
@click.option("--bootstrap", type=click.IntRange(0), default=0, help="Tables drawn to test each number of classes.")
@click.option("--errors", type=click.IntRange(0), default=0, help="Resamples for standard errors.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the model (.json, .bif, .xml).")
@click.option("--page", type=click.Path(dir_okay=False), help="The page (default with --predictors and the like).")
@reading
@shared("seed jobs budget max_memory cluster static json quiet")
def classes(
    table: str,
    states: str,
    starts: int,
    predictors: str | None,
    outcomes: str | None,
    steps: str | None,
    groups: str | None,
    strata: str | None,
    by_group: str | None,
    dependent: tuple[str, ...],
    kinds: tuple[str, ...],
    bootstrap: int,
    errors: int,
    output: str | None,
    page: str | None,
    reading: Reading,
    flags: Flags,
) -> int:
    """Latent classes: one hidden grouping of the rows behind all columns.

    With predictors, outcomes, groups or strata, --weights are sampling weights (errors are linearised); else they say
    how many equal rows each row stands for.

    \b
    leverrier classes survey.csv
    leverrier classes survey.csv --states 2-4 -o classes.json
    leverrier classes survey.csv --states 1-6 --predictors age,sex --outcomes income --weights w --groups household
    leverrier classes survey.csv --states 3 --by-group country --kind visits=poisson
    leverrier classes panel.csv --by id --time wave --states 1-4 --predictors age
    """
    if reading.in_time:
        moved = lv.latent_transitions(
            reading.sequences(table),
            states=_numbers(states),
            inputs=_names(predictors) or (),
            starts=min(starts, 5),
            seed=flags.seed,
            budget=flags.budget,
        )
        click.echo(json.dumps({"states": moved.states, "words": str(moved)}) if flags.json else str(moved))
        return 0
    design = {"groups": groups, "strata": strata, "by_group": by_group}
    more: dict[str, Any] = {name: given for name, given in design.items() if given is not None}
    more |= {"predictors": _names(predictors), "outcomes": _names(outcomes)}
    more |= {"dependent": _pairs(dependent), "indicators": _kinds(kinds)}
    if steps is not None:
        more["steps"] = 1 if steps == "1" else steps
    more = {name: given for name, given in more.items() if given}
    if more and reading.weights is not None:
        more["weights"] = reading.weights
    place = page or (f"{os.path.splitext(table)[0]}.classes.html" if more else None)
    require_folders(*filter(None, (place,)))
    require_network(output)
    with Interruptible(flags.hush, flags.budget, afterwards(not flags.static) if place else 0.0) as run:
        run.load(lv.read_table, lv.latent_classes)
        run.stop.break_in()
        found = lv.latent_classes(
            _rows(table, more, reading, flags),
            states=_numbers(states),
            starts=starts,
            bootstrap=bootstrap,
            errors=errors,
            seed=flags.seed,
            jobs=flags.jobs,
            budget=run.seconds,
            max_memory=flags.max_memory,
            client=flags.cluster,
            progress=run.tell,
            **more,
        )
    if output:
        lv.write_network(found.network, output)
    if place:
        with told_as_notes(flags.hush):
            found.report(place, f"Latent classes of {Path(table).name}", live=not flags.static)
    click.echo(json.dumps(_content(found)) if flags.json else str(found))
    if place and not flags.hush:
        click.echo(f"\nThe page is {place}")
    return interrupted(run)


def _content(found: LatentClassResult) -> dict[str, Any]:
    content: dict[str, Any] = {
        "states": found.states,
        "log_likelihood": found.log_likelihood,
        "words": str(found),
        "table": found.table.to_dicts(),
    }
    if found.asked is not None:
        content |= {
            "coefficients": _finite(found.coefficients.to_dicts()),
            "profiles": _finite(found.intervals().to_dicts()),
            "outcomes": _finite(found.outcomes.to_dicts()),
            "tests": _finite(found.tests.to_dicts()),
            "residuals": _finite(found.residuals.to_dicts()),
            "notes": list(found.notes),
        }
    return content


def _finite(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """JSON has no word for infinity, nor for what is no number."""
    return [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def _rows(table: str, more: dict[str, Any], reading: Reading, flags: Flags) -> Any:
    """The table as it is asked to be read; a column of groups is never an identifier to be set aside."""
    if not more:
        return reading.rows(table, flags.max_memory, flags.cluster)
    said = reading.of_rows()
    if not set(said) - {"weights"}:
        return table
    from leverrier.learning.classes.parts.indicator import IndicatorKind

    named = {more[name]: "category" for name in ("groups", "strata", "by_group") if name in more}
    asked = more.get("indicators", {}).items()
    numbers = dict.fromkeys((name for name, text in asked if not IndicatorKind.named(text).categorical), "number")
    return lv.read_table(table, **{**said, "types": {**named, **numbers, **said.get("types", {})}})


def _names(text: str | None) -> list[str]:
    return [] if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _pairs(given: tuple[str, ...]) -> Any:
    if given == ("search",):
        return "search"
    pairs = [tuple(_names(each)) for each in given]
    for pair, text in zip(pairs, given, strict=True):
        if len(pair) != 2:
            raise lv.OptionError(f"--dependent {text!r}: write two columns, such as a,b; or search")
    return pairs


def _kinds(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in given:
        column, sign, kind = each.rpartition("=")
        if not sign:
            raise lv.OptionError(f"--kind {each!r}: write COLUMN=KIND, such as visits=poisson")
        found[column] = kind
    return found


def _numbers(text: str) -> list[int]:
    """3, 1-6 or 2,4 as numbers."""
    try:
        first, dash, last = text.partition("-")
        numbers = list(range(int(first), int(last) + 1)) if dash else [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise lv.OptionError(f"--states {text!r}: write a number, a range or a list of them: 3, 1-6 or 2,4")
    return numbers
