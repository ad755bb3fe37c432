"""Models of numbers, counts and categories with a hidden state, in files.

{"format": "leverrier-regimes", "version": 1, "columns": […], "name": "H1", "emissions": [{"name", "family", "terms",
 "shared", "coefficients", "spread", "shape", "floor", "tied"}, …], "moves": {"initial", "matrix", "allowed", …}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leverrier.errors import LeverrierError
from leverrier.formats.draft import Source, shown
from leverrier.formats.slice_models import column_content, read_column
from leverrier.formats.typed import read_plain
from leverrier.models.regimes.count_emissions import CountEmission
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves, Stay
from leverrier.models.regimes.number_emissions import NumberEmission
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.state_emissions import StateEmission
from leverrier.models.regimes.terms import Term

FORMAT, VERSION = "leverrier-regimes", 1
KINDS: dict[Family, type[Emission]] = {
    Family.NORMAL: NumberEmission,
    Family.STUDENT: NumberEmission,
    Family.POISSON: CountEmission,
    Family.NEGATIVE_BINOMIAL: CountEmission,
    Family.ZERO_INFLATED: CountEmission,
    Family.CATEGORY: StateEmission,
}


def regimes_content(model: RegimeModel) -> dict[str, Any]:
    """The model as JSON holds it; every digit is kept."""
    columns = [column_content(column) for column in model.variables]
    return {"format": FORMAT, "version": VERSION, "columns": columns, **model.content}


def read_regimes(content: Mapping[str, Any], path: str | None = None) -> RegimeModel:
    """The model that this content stands for; anything damaged is refused in one line."""
    source = Source(path)
    if content.get("version") != VERSION:
        raise source.error(f"version {shown(content.get('version'))} of the format; this Leverrier reads {VERSION}")
    try:
        columns = tuple(read_column(each) for each in content["columns"])
        moves = _read_moves(content["moves"])
        emissions = tuple(_read_emission(each, moves.states) for each in content["emissions"])
        if not emissions or {each.name for each in emissions} - {column.name for column in columns}:
            raise ValueError("its columns are not those that it explains")
        return RegimeModel(columns, emissions, moves, str(content["name"]))
    except LeverrierError as error:
        raise source.error(f"a model of regimes that is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise source.error(f"a model of regimes with a part missing or damaged ({error})") from None


def _floats(content: Any, name: str, *shape: int) -> np.ndarray:
    made = np.array(content, dtype=np.float64)
    if not np.all(np.isfinite(made)) or (shape and made.shape != shape):
        raise ValueError(f"{name} of shape {made.shape}")
    return made


def _read_emission(content: Mapping[str, Any], states: int) -> Emission:
    family = Family(content["family"])
    terms = tuple(read_plain(each, Term) for each in content["terms"])
    shared = tuple(bool(each) for each in content["shared"])
    coefficients = _floats(content["coefficients"], "coefficients")
    if coefficients.shape[:2] != (states, 1 + len(terms)) or len(shared) != len(terms):
        raise ValueError(f"coefficients of shape {coefficients.shape} for {states} states and {len(terms)} terms")
    if coefficients.ndim != (3 if family is Family.CATEGORY else 2):
        raise ValueError(f"coefficients of shape {coefficients.shape} for the law {family.value}")
    more = {"pseudo": float(content.get("pseudo", 0.0))} if family is Family.CATEGORY else {}
    spread = _floats(content["spread"], "spread", states)
    if np.any(spread <= 0):
        raise ValueError("a spread that is not above 0")
    return KINDS[family](
        str(content["name"]),
        family,
        terms,
        shared,
        coefficients,
        spread,
        _floats(content["shape"], "shape", states),
        float(content["floor"]),
        bool(content["tied"]),
        **more,
    )


def _read_moves(content: Mapping[str, Any]) -> Moves:
    initial = _floats(content["initial"], "initial")
    k = len(initial)
    matrix = _floats(content["matrix"], "matrix", k, k)
    for row in (initial, *matrix):
        if np.any(row < 0) or abs(row.sum() - 1) > 1e-6:
            raise ValueError("chances that do not add up to 1")
    return Moves(
        initial,
        matrix,
        _floats(content["allowed"], "allowed", k, k).astype(bool),
        tuple(read_plain(each, Term) for each in content["terms"]),
        None if content["slopes"] is None else _floats(content["slopes"], "slopes"),
        Stay(content["stay"]),
        None if content["laws"] is None else _floats(content["laws"], "laws", k, 2),
        int(content["longest"]),
        float(content["pseudo"]),
    )
