"""A table to a file of SPSS, Stata or SAS, with all that such a file said of its columns: codes, labels, measurement
level, codes for missing. What was read from one comes back as it was."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from leverrier.data.column import About
from leverrier.data.reading.survey_files import failures
from leverrier.data.variable import ColumnKind, Variable
from leverrier.errors import MissingExtraError, TableError

WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".por": "write_por", ".xpt": "write_xport"}
Columns = Mapping[str, tuple[Variable | None, NDArray[Any]]]
Code = float | str


def write_survey(columns: Columns, about: Mapping[str, About], suffix: str, part: Path) -> None:
    """Write these columns; `suffix` is the suffix that the file will have."""
    import pyreadstat

    known = {name: about.get(name, About()) for name in columns}
    cells = {name: _cells(*columns[name], known[name]) for name in columns}
    named = {name: _labels(columns[name][0], known[name]) for name in columns}
    how: dict[str, Any] = {"column_labels": {name: _label(columns[name][0], known[name]) for name in columns}}
    if suffix in (".sav", ".zsav", ".dta"):
        how["variable_value_labels"] = {name: labels for name, labels in named.items() if labels}
    if suffix in (".sav", ".zsav"):
        how["missing_ranges"] = {name: _ranges(each) for name, each in known.items() if each.missing}
        how["variable_measure"] = {name: _measure(columns[name][0], known[name]) for name in columns}
        how["compress"] = suffix == ".zsav"
    if suffix == ".dta":
        letters = {name: [str(low) for low, _ in each.missing] for name, each in known.items() if each.missing}
        how["missing_user_values"] = {
            name: codes for name, codes in letters.items() if all(len(c) == 1 and c.isalpha() for c in codes)
        }
    try:
        getattr(pyreadstat, WRITERS[suffix])(_frame(cells), str(part), **how)
    except (*failures(), ValueError, TypeError) as problem:
        raise TableError(f"a {suffix} file cannot hold this table: {str(problem).strip()}") from None


def _frame(cells: Mapping[str, list[Any]]) -> Any:
    """By pandas or polars, whichever is there: pyreadstat writes frames."""
    for name in ("pandas", "polars"):
        try:
            return importlib.import_module(name).DataFrame(dict(cells))
        except ImportError:
            continue
    raise MissingExtraError("files of SPSS, Stata and SAS are written with pandas or polars: pip install pandas")


def _codes(variable: Variable, about: About) -> list[Code]:
    """What stands for each state in the file: its own code, the number that it is, else its place from 1."""
    if variable.whole or variable.kind is ColumnKind.BOOLEAN:
        return [float(state) for state in variable.states]  # type: ignore[arg-type]
    given = [about.codes.get(str(state), _number(state)) for state in variable.states]
    if about.codes and all(code is not None for code in given):
        return [code for code in given if code is not None]
    return [float(place) for place in range(1, len(variable.states) + 1)]


def _number(state: Any) -> float | None:
    try:
        return float(state)
    except (TypeError, ValueError):
        return None


def _cells(variable: Variable | None, cells: NDArray[Any], about: About) -> list[Any]:
    if variable is None or cells.dtype.kind == "f":
        found: list[Any] = [None if value != value else float(value) for value in cells.tolist()]
    else:
        codes: list[Any] = [*_codes(variable, about), None]
        found = [codes[code] for code in cells.tolist()]
    if about.reasons is not None:
        found = [cell if why is None else why for cell, why in zip(found, about.reasons.tolist(), strict=True)]
    texts = any(isinstance(cell, str) for cell in found) and not any(isinstance(cell, float) for cell in found)
    return ["" if cell is None else cell for cell in found] if texts else found


def _labels(variable: Variable | None, about: About) -> dict[Code, str]:
    missing = {code: label for label, code in about.missing_labels.items()}
    if variable is None or variable.whole or (variable.binned and not about.codes):
        return missing
    known: dict[Code, str] = {code: label for label, code in about.codes.items()}
    if not known:
        known = dict(zip(_codes(variable, about), map(str, variable.states), strict=True))
    return {**known, **missing}


def _label(variable: Variable | None, about: About) -> str | None:
    return about.label or (variable.label if variable is not None else "") or None


def _ranges(about: About) -> list[Any]:
    return [low if low == high else {"lo": low, "hi": high} for low, high in about.missing]


def _measure(variable: Variable | None, about: About) -> str:
    if about.measure:
        return about.measure
    if variable is None or variable.binned or variable.whole:
        return "scale"
    return "ordinal" if variable.kind is ColumnKind.ORDERED else "nominal"
