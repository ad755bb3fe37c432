"""A plain hidden Markov model as a model of laws: what is asked of the one can then be asked of the other."""

from __future__ import annotations

import numpy as np

from leverrier.data.variable import Variable
from leverrier.errors import OptionError
from leverrier.models.dynamic.cpd import GaussianCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.regimes.emission import Emission, Family
from leverrier.models.regimes.moves import Moves
from leverrier.models.regimes.number_emissions import NumberEmission
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.state_emissions import StateEmission, table_logits


def laws_of(network: DynamicNetwork, variables: tuple[Variable, ...]) -> RegimeModel:
    """One hidden chain behind columns that depend on it alone; `variables` are the columns as they were read."""
    _check(network)
    name = network.hidden[0]
    matrix = network.transition[name].table()
    laws: list[Emission] = [_number(column, cpd) for column, cpd in network.numbers.items()]
    for column in network.observed:
        table = network.transition[column].table()
        k = len(table)
        laws.append(StateEmission(column, Family.CATEGORY, (), (), table_logits(table), np.ones(k), np.zeros(k)))
    moves = Moves(network.stages[0][name].table(), matrix, np.ones(matrix.shape, dtype=bool))
    return RegimeModel(variables, tuple(laws), moves, name)


def _check(network: DynamicNetwork) -> None:
    name = network.hidden[0] if len(network.hidden) == 1 else ""
    plain = (
        bool(name)
        and len(network.stages) == 1
        and network.transition[name].parents == ((name, 1),)
        and all(network.transition[each].parents == ((name, 0),) for each in network.observed)
        and all(cpd.parents == (name,) for cpd in network.numbers.values())
    )
    if not plain:
        raise OptionError("expected one hidden chain behind columns that depend on it alone, as hidden_markov gives it")


def _number(name: str, cpd: GaussianCPD) -> NumberEmission:
    means, spread = np.array(cpd.means), np.array(cpd.deviations)
    return NumberEmission(name, Family.NORMAL, (), (), means[:, None], spread, np.zeros(len(means)))
