"""Help that is read: verbs in the order they are needed, options in groups, a suggestion for what was nearly right."""

from __future__ import annotations

import difflib

import click

WIDE = 200
"""Descriptions of verbs are not cut."""
GROUPS = {
    "What to look for": (
        "by",
        "time",
        "method",
        "max_hidden",
        "level",
        "states",
        "starts",
        "hidden",
        "alike",
        "chains",
        "sweeps",
        "no_refine",
        "brief",
        "predictors",
        "outcomes",
        "by_group",
        "dependent",
        "steps",
        "groups",
        "strata",
        "kinds",
        "sample",
    ),
    "Reading the table": (
        "ignore",
        "types",
        "missing",
        "weights",
        "sheet",
        "decimal",
        "encoding",
        "separator",
        "delimiter",
        "labels",
        "join",
        "unseen",
        "max_memory",
        "cluster",
    ),
    "Tests": ("draws", "resamples", "no_evidence", "bootstrap", "errors"),
    "What is written": ("output", "save", "names", "title", "static", "rows", "pictures", "page", "json", "quiet"),
    "How it runs": ("seed", "jobs", "budget", "work", "checkpoint", "resume"),
}
FIRST = {
    "Begin here": ("demo", "check", "discover", "report", "posterior"),
    "One question each": ("classes", "causes", "cardinality"),
    "Networks and files": ("learn", "sample", "convert"),
}


class Verb(click.Command):
    """A verb whose options are told in groups; those that no group names come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        place = {name: title for title, names in GROUPS.items() for name in names}
        told: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, "More")}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record is not None:
                told[place.get(each.name or "", "More")].append(record)
        for title, records in told.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Verbs(click.Group):
    """Verbs in the order they are needed; a verb that is nearly one gets a suggestion."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        known = self.list_commands(ctx)
        named = {name for names in FIRST.values() for name in names}
        rest = {"More": tuple(name for name in known if name not in named)}
        for title, names in {**FIRST, **rest}.items():
            commands = [(name, self.get_command(ctx, name)) for name in names if name in known]
            records = [(name, each.get_short_help_str(WIDE)) for name, each in commands if each is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.55)
            if self.get_command(ctx, name) is None:
                hint = f"did you mean {near[0]}?" if near else f"the verbs are {', '.join(known)}"
                raise click.UsageError(f"no such command {name!r}: {hint}")
        return super().resolve_command(ctx, args)
