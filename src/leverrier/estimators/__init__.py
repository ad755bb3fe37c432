"""The learners as scikit-learn estimators, for pipelines and cross-validation.

    from leverrier.estimators import LatentClasses
    LatentClasses(states=3).fit_transform(frame)

Names are loaded when first used: scikit-learn takes a second to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leverrier.estimators.causes_estimator import HiddenCauses as HiddenCauses
    from leverrier.estimators.classes_estimator import LatentClasses as LatentClasses
    from leverrier.estimators.gaussian_mixtures import GaussianMixtures as GaussianMixtures
    from leverrier.estimators.hidden_variables import HiddenVariables as HiddenVariables
    from leverrier.estimators.markov_estimator import HiddenMarkov as HiddenMarkov

_MODULE_OF = {
    "GaussianMixtures": "gaussian_mixtures",
    "HiddenCauses": "causes_estimator",
    "HiddenMarkov": "markov_estimator",
    "HiddenVariables": "hidden_variables",
    "LatentClasses": "classes_estimator",
}

__all__ = ["GaussianMixtures", "HiddenCauses", "HiddenMarkov", "HiddenVariables", "LatentClasses"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'leverrier.estimators' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"leverrier.estimators.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
