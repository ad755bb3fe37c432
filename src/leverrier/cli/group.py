"""The verbs, each loaded when it is called: `leverrier --help` must not import numerics."""

from __future__ import annotations

import importlib
from typing import Any

import click

import leverrier
from leverrier.cli.help_pages import Verbs
from leverrier.hints import as_flags

VERBS = {
    "cardinality": "leverrier.cli.hidden_verbs",
    "causes": "leverrier.cli.hidden_verbs",
    "check": "leverrier.cli.table_verbs",
    "classes": "leverrier.cli.classes_verb",
    "convert": "leverrier.cli.network_verbs",
    "demo": "leverrier.cli.demo",
    "discover": "leverrier.cli.discover_verbs",
    "learn": "leverrier.cli.network_verbs",
    "posterior": "leverrier.cli.discover_verbs",
    "report": "leverrier.cli.discover_verbs",
    "sample": "leverrier.cli.network_verbs",
}
PROOFS = ("reproduce", "verify")
"""Scripts of the repository: they prove what we say, and are not part of what is installed."""


class LazyGroup(Verbs):
    """Finds a verb's command in its module, named after the verb."""

    def invoke(self, ctx: click.Context) -> Any:
        """Hints in errors and notes name flags while a verb runs."""
        with as_flags():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in PROOFS:
            raise click.UsageError(f"{cmd_name} is run from the repository: scripts/{cmd_name}")
        if cmd_name not in VERBS:
            return None
        return getattr(importlib.import_module(VERBS[cmd_name]), cmd_name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(leverrier.__version__, prog_name="leverrier")
def cli() -> None:
    """Finds what nobody measured: hidden variables in tables and sequences, with evidence."""
