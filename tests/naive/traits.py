"""Slow, readable twins of the kernels for several continua: one item, one row, one point at a time."""

import numpy as np


def two_sides(tau, code, eta):
    """F at the threshold below the code and at the one above it."""
    below = 0.0 if code == 0 else 1 / (1 + np.exp(eta - tau[code - 1]))
    above = 1.0 if code == len(tau) else 1 / (1 + np.exp(eta - tau[code]))
    return below, above


def places_of(on, points, terms, r, q):
    """What multiplies an item's slopes at one point of one row."""
    return np.concatenate([points[on, r, q], terms[:, r]])


def slow_item_pass(tau, slopes, on, points, weights, terms, codes):
    """Value, gradient and information of an item: chain rule over (threshold below, threshold above, η)."""
    n, size = len(tau), len(tau) + len(slopes)
    value, gradient, information = 0.0, np.zeros(size), np.zeros((size, size))
    for r, q in np.ndindex(weights.shape):
        code = codes[r]
        if code < 0:
            continue
        x = places_of(on, points, terms, r, q)
        a, b = two_sides(tau, code, slopes @ x)
        p, fa, fb = b - a, a * (1 - a), b * (1 - b)
        # derivatives of log P by the arguments of both sides, u = τ − η
        first = np.array([-fa, fb]) / p
        second = np.diag([-fa * (1 - 2 * a), fb * (1 - 2 * b)]) / p - np.outer(first, first)
        along = np.zeros((2, size))
        if code > 0:
            along[0, code - 1] = 1
        if code < n:
            along[1, code] = 1
        along[:, n:] = -x
        w = weights[r, q]
        value += w * np.log(p)
        gradient += w * along.T @ first
        information -= w * along.T @ second @ along
    return value, gradient, information


def slow_item_pulls(tau, slopes, on, points, weights, terms, codes):
    """Slopes in η and bends by row, and by trait against places and their squares."""
    pull, hold, by_trait = np.zeros(len(codes)), np.zeros(len(codes)), np.zeros((2, len(points)))
    for r, q in np.ndindex(weights.shape):
        if codes[r] < 0:
            continue
        a, b = two_sides(tau, codes[r], slopes @ places_of(on, points, terms, r, q))
        own, bent = weights[r, q] * (a + b - 1), weights[r, q] * (a * (1 - a) + b * (1 - b))
        pull[r] += own
        hold[r] += bent
        by_trait += np.array([own * points[:, r, q], bent * points[:, r, q] ** 2])
    return pull, hold, by_trait


def slow_row_weights(codes, tau, loads, offset, mean, precision, points, drawn):
    """Weights of a row's points and log P of its items: prior times items over the normal they were drawn from, whose
    shape is read off the points themselves."""
    d = points.shape[1]
    shape = np.linalg.lstsq(drawn, points - points.mean(axis=0), rcond=None)[0] if len(drawn) > d else None
    assert shape is not None
    assert np.allclose(drawn @ shape, points - points.mean(axis=0), atol=1e-6)  # (mirrored, so that their mean is 0)
    found = []
    for x, own in zip(points, drawn, strict=True):
        away = x - mean
        prior = 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * away @ precision @ away
        density = -0.5 * own @ own - np.linalg.slogdet(shape)[1]
        sides = [two_sides(t, code, o + row @ x) for t, code, o, row in zip(tau, codes, offset, loads, strict=True)]
        found.append(prior - density + sum(np.log(b - a) for a, b in sides))
    logs = np.array(found)
    share = np.exp(logs - logs.max())
    return share / share.sum(), logs.max() + np.log(share.mean())
