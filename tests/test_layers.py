"""Each layer imports only from those above it: the list below is the architecture."""

import ast
from pathlib import Path

import pytest

import leverrier

LAYERS = [
    {"errors", "status", "drawn"},
    {"kernels"},
    {"data"},
    {"inference"},
    {"model"},
    {"formats"},
    {"statistics"},
    {"learning", "sampling"},
    {"discovery"},
    {"report"},
    {"datasets", "api"},
    {"estimators"},
    {"reproduce"},
    {"verify"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ROOT = Path(leverrier.__file__).parent


def imports_of(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the whole name"
            yield node.module or "", node.lineno


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_layer_imports_only_from_those_above_it(path):
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if layer == "__init__":
        return  # the list of public names sees everything
    assert layer in RANK, f"{layer} is in no layer: add it to the list"
    for name, line in imports_of(path):
        parts = name.split(".")
        if parts[0] != "leverrier" or len(parts) == 1:
            continue
        target = parts[1]
        allowed = target == layer or RANK[target] < RANK[layer]
        assert allowed, f"{path.name}:{line}: {layer} imports {target}, which stands below it"
        if layer == "kernels":
            assert target == "kernels", f"{path.name}:{line}: kernels import nothing of ours"
