"""The causes found, in words: what the command line prints."""

from __future__ import annotations

from leverrier.sampling.result import HiddenCausesResult

SURE = 0.9
"""A link at least so probable is named without its chance."""


def describe_causes(found: HiddenCausesResult) -> str:
    """How many causes, what each reaches, how often it is active, whether the chains agree, what was set aside."""
    n_rows, n_causes = found.posterior.shape
    likely = sorted(found.count.items(), key=lambda item: -item[1])[:3]
    chances = ", ".join(f"{k} with {chance:.0%}" for k, chance in likely)
    lines = [
        f"{len(found.names)} signs, {n_rows} rows: {found.expected_count:.1f} hidden causes expected ({chances}).",
        f"A sign comes by itself in {found.model.epsilon:.1%} of rows.",
        "",
    ]
    for k in range(n_causes):
        often = float(found.posterior[:, k].mean()) if n_rows else 0.0
        numbers = f"active in {often:.0%} of rows, brings a sign about with {found.model.lam[k]:.0%}"
        doubt = "" if found.present[k] >= SURE else f"; there in {found.present[k]:.0%} of the posterior"
        lines.append(f"cause {k + 1}: {numbers}{doubt}")
        lines.append(f"    {_children(found, k)}")
    alone = [name for name, linked in zip(found.names, found.best.sum(axis=1), strict=True) if not linked]
    if alone:
        lines += ["", f"no cause reaches {', '.join(alone)}"]
    worst = max(found.r_hat, key=lambda name: found.r_hat[name])
    lines += ["", f"{len(found.chains)} chains, {found.status} (largest R-hat {found.r_hat[worst]:.2f}, of {worst})"]
    return "\n".join([*lines, *(f"note: {note}" for note in found.notes)])


def _children(found: HiddenCausesResult, cause: int) -> str:
    """A cause's signs, the doubtful ones last and with their chance."""
    column = found.links[:, cause]
    order = sorted(range(len(column)), key=lambda i: (column[i] < SURE, i))
    named = [i for i in order if found.best[i, cause] or column[i] >= 0.5]
    return ", ".join(found.names[i] + ("" if column[i] >= SURE else f" ({column[i]:.0%})") for i in named)
