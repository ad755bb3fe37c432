"""Builds the generated pages and checks every link: `scripts/docs`, or `scripts/docs --check` to only compare.

docs/cli.md    from the command line's own help texts
docs/api.md    from the docstrings of the public names
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import click
from click.testing import CliRunner

import leverrier
from leverrier.cli.group import VERBS, cli

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
GROUPS = {
    "The one door": ("discover", "Discovery", "Verdict", "load", "save_picture"),
    "Data": ("read_table", "describe_columns", "write_table", "Table", "read_sequences", "Sequences"),
    "Networks": (
        "Network",
        "Graph",
        "read_network",
        "MixedNetwork",
        "read_mixed_network",
        "write_network",
        "from_networkx",
        "to_networkx",
        "from_pgmpy",
        "to_pgmpy",
        "from_pyagrum",
        "to_pyagrum",
    ),
    "Structure": ("learn_structure", "score", "BDeu", "BDe", "BIC", "AIC", "LogLikelihood", "semi_cliques"),
    "Hidden variables": (
        "find_hidden",
        "cardinality",
        "fit",
        "structural_em",
        "cheeseman_stutz",
        "latent_classes",
        "mixed_classes",
        "hidden_causes",
    ),
    "Numbers": ("fit_mixture", "Mixture", "NormalInverseWishart"),
    "Time": (
        "find_in_time",
        "find_memories",
        "learn_dynamic",
        "fit_dynamic",
        "hidden_markov",
        "latent_transitions",
        "factorial_hmm",
        "DynamicNetwork",
        "read_dynamic",
        "write_dynamic",
    ),
    "Why it stopped, and what went wrong": (
        "Status",
        "LeverrierError",
        "InputError",
        "TableError",
        "FormatError",
        "NetworkError",
        "OptionError",
        "TooLargeError",
        "MissingExtraError",
        "FallError",
    ),
}


def command_page() -> str:
    """Every verb with its help, as a user sees it."""
    parts = ["# The command line", "", "Generated from `leverrier --help`; `scripts/docs` writes it anew.", ""]
    for words in ([], *([verb] for verb in sorted(VERBS))):
        shown = CliRunner().invoke(cli, [*words, "--help"], prog_name="leverrier", terminal_width=100)
        title = " ".join(["leverrier", *words])
        parts += [f"## {title}", "", "```", shown.output.rstrip(), "```", ""]
    return "\n".join(parts)


def reference_page() -> str:
    """Every public name with its signature and docstring."""
    parts = ["# Public names", "", "Generated from the docstrings; `scripts/docs` writes it anew.", ""]
    for group, names in GROUPS.items():
        parts += [f"## {group}", ""]
        for name in names:
            parts += [f"### `{name}`", "", "```", *_described(getattr(leverrier, name), name), "```", ""]
    return "\n".join(parts)


def _described(value: object, name: str) -> list[str]:
    lines = []
    if callable(value) and not (inspect.isclass(value) and issubclass(value, BaseException)):
        lines += [f"{name}{_signature(value)}", ""]
    return lines + (inspect.getdoc(value) or "").splitlines()


def _signature(value: object) -> str:
    try:
        text = str(inspect.signature(value))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return "(…)"
    return re.sub(r"<(?:object|function) [^>]*>", "…", text)


def broken_links() -> list[str]:
    """Links in our pages to files or headings that are not there."""
    problems = []
    for page in (*sorted(FOLDER.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            place, _, heading = target.partition("#")
            file = (page.parent / place) if place else page
            if not file.exists():
                problems.append(f"{page.relative_to(ROOT)}: {target} is not there")
            elif heading and file.suffix == ".md" and heading not in _headings(file):
                problems.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    return problems


def _headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in found}


def missing_names() -> list[str]:
    """Public names that no group lists."""
    listed = {name for names in GROUPS.values() for name in names} | {"__version__", "datasets", "estimators"}
    return sorted(set(leverrier.__all__) - listed)


def main() -> int:
    problems = [*broken_links(), *(f"docs/build.py: {name} is in no group" for name in missing_names())]
    for name, text in (("cli.md", command_page()), ("api.md", reference_page())):
        page = FOLDER / name
        if "--check" not in sys.argv:
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            problems.append(f"docs/{name} is stale: run scripts/docs")
    for problem in problems:
        click.echo(problem, err=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
