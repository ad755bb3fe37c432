"""The causes found, in words: what `print` and the command line say."""

from __future__ import annotations

from leverrier.noisy_or.causes_result import HiddenCausesResult

SURE = 0.9
"""A link at least so probable is named without its chance."""
SEEN = 0.5
"""A cause there in less of the posterior is not described: it is counted at the end."""


UNTESTED = (
    "The number of causes holds if causes that overlap are the right model. Whether anything is hidden here at all is "
    "another question: leverrier discover tests it."
)


def causes_headline(found: HiddenCausesResult) -> str:
    """The page's first sentence."""
    k, chance = max(found.count.items(), key=lambda item: item[1])
    what = (
        "no hidden cause is" if k == 0 else "one hidden cause is" if k == 1 else f"{k} hidden causes that overlap are"
    )
    rows, signs = found.posterior.shape[0], len(found.names)
    return f"Behind {signs} signs of {rows:,} rows {what} most probable ({100 * chance:.0f} %)."


def describe_causes(found: HiddenCausesResult) -> str:
    """How many causes, what each reaches, how often it is active, whether the chains agree, what was set aside.

    A cause of one sign alone says only that this sign is commoner than the shared background: those are listed apart.
    """
    n_rows, n_causes = found.posterior.shape
    likely = sorted(found.count.items(), key=lambda item: -item[1])[:3]
    chances = ", ".join(f"{k} with {chance:.0%}" for k, chance in likely)
    sizes = found.best.sum(axis=0)
    several = [k for k in range(n_causes) if sizes[k] > 1 and found.present[k] >= SEEN]
    single = [k for k in range(n_causes) if sizes[k] == 1 and found.present[k] >= SEEN]
    lines = [
        f"{len(found.names)} signs, {n_rows} rows: {found.expected_count:.1f} hidden causes expected ({chances}).",
        f"A sign comes by itself in {found.model.epsilon:.1%} of rows.",
        "",
    ]
    for k in several:
        lines.append(f"cause {k + 1}: {_numbers(found, k)}")
        lines.append(f"    {_children(found, k)}")
    if single:
        lines += ["causes of one sign alone:", *(f"    {_children(found, k)}: {_numbers(found, k)}" for k in single)]
    doubtful = n_causes - len(several) - len(single)
    if doubtful:
        lines.append(f"{doubtful} more in less than half of the posterior")
    alone = [name for name, linked in zip(found.names, found.best.sum(axis=1), strict=True) if not linked]
    if alone:
        lines += ["", f"no cause reaches {', '.join(alone)}"]
    lines += ["", _agreement(found)]
    return "\n".join([*lines, *(f"note: {note}" for note in found.notes)])


def _numbers(found: HiddenCausesResult, cause: int) -> str:
    often = float(found.posterior[:, cause].mean()) if len(found.posterior) else 0.0
    doubt = "" if found.present[cause] >= SURE else f"; there in {found.present[cause]:.0%} of the posterior"
    return f"active in {often:.0%} of rows, brings a sign about with {found.model.lam[cause]:.0%}{doubt}"


def _children(found: HiddenCausesResult, cause: int) -> str:
    """A cause's signs, the doubtful ones last and with their chance."""
    column = found.links[:, cause]
    order = sorted(range(len(column)), key=lambda i: (column[i] < SURE, i))
    named = [i for i in order if found.best[i, cause] or column[i] >= SEEN]
    return ", ".join(found.names[i] + ("" if column[i] >= SURE else f" ({column[i]:.0%})") for i in named)


def _agreement(found: HiddenCausesResult) -> str:
    """Whether the chains agree, and what to do where they do not."""
    n = len(found.chains)
    text = f"{n} chain{'s' * (n != 1)}, {found.status}"
    known = {name: value for name, value in found.r_hat.items() if value == value}
    if known:
        worst = max(known, key=lambda name: known[name])
        text += f" (largest R-hat {known[worst]:.2f}, of {worst.replace('_', ' ')})"
    if found.status.converged:
        return text
    return f"{text}: trust which signs go together more than how many causes there are; more sweeps may settle it"
