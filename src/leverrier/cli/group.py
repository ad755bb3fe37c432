"""The verbs, each loaded when it is called: `leverrier --help` must not import numerics."""

from __future__ import annotations

import importlib

import click

import leverrier

VERBS = {
    "cardinality": "leverrier.cli.hidden",
    "causes": "leverrier.cli.hidden",
    "check": "leverrier.cli.tables",
    "classes": "leverrier.cli.hidden",
    "convert": "leverrier.cli.networks",
    "demo": "leverrier.cli.demo",
    "discover": "leverrier.cli.discovering",
    "learn": "leverrier.cli.networks",
    "posterior": "leverrier.cli.discovering",
    "report": "leverrier.cli.discovering",
    "reproduce": "leverrier.cli.reproducing",
    "sample": "leverrier.cli.networks",
    "verify": "leverrier.cli.verifying",
}


class LazyGroup(click.Group):
    """Finds a verb's command in its module, named after the verb."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        return getattr(importlib.import_module(VERBS[cmd_name]), cmd_name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(leverrier.__version__, prog_name="leverrier")
def cli() -> None:
    """Finds what nobody measured: hidden variables in tables and sequences, with evidence."""
