"""What a dynamic network says of sequences: their probability, posteriors, paths and forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leverrier.errors import OptionError
from leverrier.inference.factors import log
from leverrier.model.cpd import Floats

if TYPE_CHECKING:
    from leverrier.model.dynamic import DynamicNetwork


def slice_log_likelihood(network: DynamicNetwork, data: Any, method: str) -> Floats:
    """log P(slice | slices before), for data without holes."""
    sequences = network.read(data)
    codes, position = sequences.table.codes, sequences.position
    if method != "exact" or network.hidden or np.any(codes == sequences.table.missing):
        raise OptionError("hidden variables and holes are not summed out here yet")
    place = {name: number for number, name in enumerate(network.observed)}
    result = np.zeros(sequences.n_slices)
    for stage in range(len(network.stages) + 1):
        here = np.flatnonzero(position == stage if stage < len(network.stages) else position >= stage)
        for name, cpd in network.slice(stage).items():
            given = np.array([codes[place[p], here - lag] for p, lag in cpd.parents], dtype=codes.dtype)
            result[here] += log(cpd.probabilities(codes[place[name], here], given.reshape(-1, len(here))))
    return result
