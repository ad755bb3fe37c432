"""A table's distinct configurations, with a dict."""

from __future__ import annotations


def naive_project(rows, weights, missing):
    """Configurations (holes after every state), their weights, and each row's configuration."""
    totals = {}
    for row, weight in zip(rows, weights, strict=True):
        totals[tuple(row)] = totals.get(tuple(row), 0.0) + weight
    order = sorted(totals, key=lambda row: [float("inf") if code == missing else code for code in row])
    place = {configuration: position for position, configuration in enumerate(order)}
    return order, [totals[configuration] for configuration in order], [place[tuple(row)] for row in rows]
