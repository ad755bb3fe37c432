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
from leverrier.models.regimes.count_emissions import CountEmission
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves
from leverrier.models.regimes.number_emissions import NumberEmission
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.state_emissions import StateEmission
from leverrier.plain_values import plain, read_plain

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
    emissions = [plain(each) for each in model.emissions]
    own = {"name": model.name, "emissions": emissions, "moves": plain(model.moves)}
    return {"format": FORMAT, "version": VERSION, "columns": columns, **own}


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


def _read_emission(content: Mapping[str, Any], states: int) -> Emission:
    made = read_plain(content, KINDS[Family(content["family"])])
    shape, terms = made.coefficients.shape, len(made.terms)
    _require_shapes("coefficients", made.coefficients, (states, 1 + terms, *shape[2:]))
    if len(shape) != (3 if made.family is Family.CATEGORY else 2) or len(made.shared) != terms:
        raise ValueError(f"coefficients of shape {shape} for the law {made.family.value} with {terms} terms")
    _require_shapes("spread", made.spread, (states,))
    _require_shapes("shape", made.shape, (states,))
    if np.any(made.spread <= 0):
        raise ValueError("a spread that is not above 0")
    return made


def _read_moves(content: Mapping[str, Any]) -> Moves:
    made = read_plain(content, Moves)
    k = len(made.initial)
    _require_shapes("matrix", made.matrix, (k, k))
    _require_shapes("allowed", made.allowed, (k, k))
    for row in (made.initial, *made.matrix):
        if not np.all(row >= 0) or abs(row.sum() - 1) > 1e-6:
            raise ValueError("chances that do not add up to 1")
    if made.slopes is not None:
        _require_shapes("slopes", made.slopes, made.slopes.shape)
    if made.laws is not None:
        _require_shapes("laws", made.laws, (k, 2))
    return made


def _require_shapes(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    """Finite numbers, so many of them."""
    if values.shape != shape or not np.all(np.isfinite(values)):
        raise ValueError(f"{name} of shape {values.shape}")
