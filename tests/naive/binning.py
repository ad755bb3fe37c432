"""Where quantile cuts go, by trying every gap between two values."""

from __future__ import annotations


def naive_quantile_gaps(values, weights, bins):
    """For each target the gap with the nearest weight below it (the lower one if two are as near); gaps by position."""
    total = sum(weights)
    chosen = set()
    for step in range(1, bins):
        target = total * step / bins
        gaps = range(1, len(values))
        chosen.add(min(gaps, key=lambda gap: (abs(sum(weights[:gap]) - target), gap)))
    return sorted(chosen)
