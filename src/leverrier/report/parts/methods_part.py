"""The last sections: a paragraph to paste into a paper, the settings, and how to repeat it."""

from __future__ import annotations

from leverrier.discovery.examined import Examined
from leverrier.report.parts.page_parts import Block, Grid, Items, Listing, Part, Words, several

KINDS = {
    "network": "hidden variables in a Bayesian network over the columns",
    "classes": "one hidden class behind all columns",
    "causes": "overlapping hidden yes/no causes (noisy-OR)",
}


def methods_part(found: Examined) -> Part:
    """What was done, ready to paste; seed, versions, the command."""
    blocks: list[Block] = [Listing(methods_text(found), wrap=True)]
    if found.did:
        blocks += [Words("What was done:"), Items(found.did)]
    if found.shape.notes:
        blocks += [Words("What reading the data changed:"), Items(found.shape.notes[:20])]
    settings = found.settings
    versions = settings.get("versions") or {}
    rows = [
        ("seed", str(settings.get("seed", "–"))),
        ("score", str(settings.get("score", "–"))),
        ("simulated tables asked for", str(settings.get("draws", "–"))),
        ("resamples asked for", str(settings.get("resamples", "–"))),
        ("leverrier", str(settings.get("version", "–"))),
        *((name, str(value)) for name, value in versions.items()),
        ("time", f"{found.seconds:.0f} s"),
    ]
    blocks.append(Grid(("setting", "value"), tuple(rows), words=(0, 1)))
    blocks += [Words("To repeat it:"), Listing(repeat_text(found))]
    return Part("methods", "Methods", blocks)


def methods_text(found: Examined) -> str:
    """A paragraph for a paper."""
    settings, shape = found.settings, found.shape
    version = settings.get("version", "")
    holes = f" ({shape.holes:,} empty cells, summed over)" if shape.holes else ""
    text = (
        f"We searched {several(shape.rows, 'row')} of {several(shape.columns, 'column')}{holes} for hidden "
        "variables with Leverrier "
        f"{version} (seed {settings.get('seed', 0)}, score {settings.get('score', 'BDe')}). "
    )
    if found.attempts:
        text += (
            f"{several(len(found.attempts), 'candidate')} were compared by the Cheeseman–Stutz score with the "
            "best network without. "
        )
    if not found.hidden:
        missed = f" {found.power}" if found.power is not None else ""
        return text + "No hidden variable was accepted." + missed
    text += f"The model accepted has {KINDS[found.kind]}: "
    text += "; ".join(f"{each.name}, {several(each.states, 'state')}" for each in found.hidden[:8]) + ". "
    evidence = found.hidden[0].evidence
    if evidence is None or not evidence.tested:
        return text + "It was not tested against chance."
    if evidence.null_gains:
        text += (
            f"Against {several(len(evidence.null_gains), 'table')} simulated without the hidden variable and "
            "searched in the same way "
            f"its gain of {evidence.gain:.1f} nats has p = {evidence.p_value:.2g}. "
        )
    if evidence.held_out is not None and evidence.held_out_interval is not None:
        low, high = evidence.held_out_interval
        text += (
            f"On held-out rows it gains {evidence.held_out:+.4f} nats a row (95 % interval {low:+.4f} to {high:+.4f}). "
        )
    if evidence.support is not None:
        text += f"It came back in {100 * evidence.support:.0f} % of resamples."
    return text.strip()


def repeat_text(found: Examined) -> str:
    """The command line's own words where it set them, and Python's."""
    settings = found.settings
    options = "".join(
        f", {name}={settings[name]!r}" for name in ("method", "draws", "resamples", "max_hidden") if name in settings
    )
    python = (
        "import leverrier as lv\n"
        f'found = lv.discover("your-table.csv", seed={settings.get("seed", 0)}{options})\n'
        'found.report("report.html")'
    )
    command = settings.get("command") or f"leverrier discover your-table.csv --seed {settings.get('seed', 0)}"
    return f"{command}\n\n{python}"
