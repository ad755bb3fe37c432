"""Builds the generated pages and checks every link: `scripts/docs`, or `scripts/docs --check` to only compare.

docs/cli.md              from the command line's own help texts
docs/api.md              from the docstrings of the public names
docs/functions/NAME.md   a page for every public function and model: what it takes, what comes back, an example
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import textwrap
import types
import typing
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
            parts += [f"### `{name}`", "", *_paged(name), "```", *_described(getattr(leverrier, name), name), "```", ""]
    return "\n".join(parts)


def _paged(name: str) -> list[str]:
    return [f"[Its page](functions/{name}.md)", ""] if inspect.isfunction(getattr(leverrier, name)) else []


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


def function_pages() -> dict[str, str]:
    """By file name a page for every public function, and one for every class that is not an error or a score."""
    examples = _examples()
    named = [name for group in list(GROUPS.values())[:-1] for name in group]
    pages = {}
    for name in named:
        value = getattr(leverrier, name)
        if inspect.isfunction(value):
            pages[f"{name}.md"] = _function_page(name, value, examples[name])
        elif inspect.isclass(value) and _members(value):
            pages[f"{name}.md"] = "\n".join([*_head(name, value), *_class_lines(value, "## What it has")])
    listed = "\n".join(f"- [`{page.removesuffix('.md')}`]({page})" for page in sorted(pages, key=str.lower))
    hidden = "```{toctree}\n:hidden:\n:glob:\n*\n```"
    text = "Generated from the docstrings; `scripts/docs` writes them anew, and every example runs in our tests."
    return {**pages, "index.md": f"# A page for every function\n\n{text}\n\n{listed}\n\n{hidden}\n"}


def _examples() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("examples", FOLDER / "examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXAMPLES


def _function_page(name: str, value: types.FunctionType, example: str) -> str:
    lines = [*_head(name, value), "## Example", "", "```python", *runnable(example), "```", ""]
    for given in returned(value):
        if given.__module__.startswith("leverrier") and _members(given):
            said = (inspect.getdoc(given) or "").partition("\n\n")[0]
            lines += [*_class_lines(given, f"## What comes back: `{given.__name__}`", said)]
    return "\n".join(lines)


def runnable(example: str) -> list[str]:
    """The example as it can be copied: what it imports, then the rest."""
    lines = example.strip().splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    rest = "\n".join(line for line in lines if line not in imports).strip()
    return [*imports, "import leverrier as lv", "", *rest.splitlines()]


def _head(name: str, value: object) -> list[str]:
    called = textwrap.wrap(f"{name}{_plainly(value)}", 100, subsequent_indent="    ")
    said = (inspect.getdoc(value) or "").splitlines()
    return [f"# `{name}`", "", "```text", *called, "```", "", "```text", *said, "```", ""]


def _plainly(value: object) -> str:
    """The arguments with their defaults, without types: what one reads before one calls it."""
    try:
        known = inspect.signature(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return "(…)"
    plain = [each.replace(annotation=each.empty) for each in known.parameters.values() if each.name != "self"]
    text = str(known.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r"<(?:object|function) [^>]*>", "…", text)


def returned(value: types.FunctionType) -> tuple[type, ...]:
    """The classes that a function gives back."""
    try:
        given = typing.get_type_hints(value).get("return")
    except NameError:  # (of something that is imported for types alone)
        return ()
    each = typing.get_args(given) if isinstance(given, types.UnionType) else (given,)
    return tuple(one for one in each if inspect.isclass(one))


def _members(value: type) -> list[tuple[str, object]]:
    """Its own public methods and properties, and those of our classes that it stands on."""
    found: dict[str, object] = {}
    for base in reversed(value.__mro__):
        if base.__module__.startswith("leverrier"):
            found |= {name: each for name, each in vars(base).items() if not name.startswith("_")}
    kinds = (types.FunctionType, property, classmethod, staticmethod)
    return [(name, each) for name, each in found.items() if isinstance(each, kinds) or hasattr(each, "func")]


def _class_lines(value: type, heading: str, said: str = "") -> list[str]:
    lines = [heading, ""] + ([said, ""] if said else [])
    fields = getattr(value, "__dataclass_fields__", {})
    shown = [name for name in fields if not name.startswith("_")]
    if shown:
        lines += ["Fields: " + ", ".join(f"`{name}`" for name in shown) + ".", ""]
    for name, each in _members(value):
        called = getattr(value, name) if isinstance(each, classmethod | staticmethod) else each
        text = (inspect.getdoc(called) or "").replace("\n", " ")
        lines.append(f"- `{name}{_plainly(called) if callable(called) else ''}`" + (f": {text}" if text else ""))
    return [*lines, ""]


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
    pages = {"cli.md": command_page(), "api.md": reference_page()}
    pages |= {f"functions/{name}": text for name, text in function_pages().items()}
    for name, text in pages.items():
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
