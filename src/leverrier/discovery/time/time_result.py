"""What was found in sequences as the one result that tables give too."""

from __future__ import annotations

import math

from scipy.special import ndtri

from leverrier.discovery.asked import Asked
from leverrier.discovery.evidence.evidence import Compared, Evidence
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import explain_chain
from leverrier.discovery.result import Result, Shape
from leverrier.discovery.time.along_time import AlongTime
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.verdict import HiddenKind, ModelKind

Z = float(ndtri(0.975))


def result_in_time(found: TimeFindings, along: AlongTime, shape: Shape, settings: Asked, seconds: float) -> Result:
    """Gains in nats, as those of tables are; what it was judged by are bits a slice on held-out blocks."""
    evidence = _evidence(found)
    labels = {variable.name: variable.states for variable in shape.variables}
    hidden = tuple(
        HiddenVariable(
            one.name,
            one.states,
            one.drives,
            (),
            found.evidence.get(one.name, evidence).gain,
            "sequences",
            found.method,
            found.evidence.get(one.name, evidence),
            found.kinds.get(one.name, HiddenKind.CLASS),
            chain=one,
        )
        for one in found.hidden
    )
    return Result(
        verdict=found.verdict,
        kind=ModelKind.SEQUENCES,
        hidden=hidden,
        compressors=(),
        network=found.network,
        baseline=None,
        score=sum(each.gain for each in found.evidence.values()) or evidence.gain,
        baseline_score=0.0,
        spread=0.0,
        repaired=0.0,
        shape=shape,
        meanings={one.name: explain_chain(one, labels) for one in found.hidden},
        settings=settings,
        seconds=seconds,
        time=found,
        along=along,
    )


def _evidence(found: TimeFindings) -> Evidence:
    nats = found.gain * math.log(2)
    error = nats / found.z if found.z else 0.0
    return Evidence(
        nats * found.n_slices,
        accepted=found.accepted,
        tested=found.tested,
        held_out=nats if found.tested else None,
        held_out_interval=(nats - Z * error, nats + Z * error) if found.tested else None,
        kind=Compared.TIME,
    )
