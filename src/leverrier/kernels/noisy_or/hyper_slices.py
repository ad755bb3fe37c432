"""The prior of the links, and slices for the numbers: a bounded support's bracket starts as all of it and shrinks."""

import math

from numba import njit

from leverrier.kernels.noisy_or.random_stream import uniform


@njit(cache=True, nogil=True)
def log_columns(degree, n_observed, alpha, decay, unbounded):
    """log P of columns with these numbers of links, in this order; see sampling.structure."""
    n_causes = degree.size
    total = 0.0
    if unbounded:
        for k in range(n_causes):
            total += math.lgamma(n_observed - degree[k] + 1.0) + math.lgamma(degree[k])
        harmonic = 0.0
        for i in range(n_observed):
            harmonic += 1.0 / (i + 1.0)
        each = math.log(alpha) - math.lgamma(n_observed + 1.0)
        return total + n_causes * each - alpha * harmonic - math.lgamma(n_causes + 1.0)
    if n_causes == 0:
        return -math.inf
    a = alpha / n_causes
    for k in range(n_causes):
        total += math.lgamma(degree[k] + a) + math.lgamma(n_observed - degree[k] + 1.0)
    each = math.log(a) - math.lgamma(n_observed + 1.0 + a)  # [wood2006 eq. 5]
    return total + n_causes * each + math.log1p(-decay) + (n_causes - 1) * math.log(decay)


@njit(cache=True, nogil=True)
def log_density(v, base, weight, power, n, zeros, a, b):
    """Beta(a, b) times Π_j [1 − base_j (1−v)^power_j]^weight_j · (1−v)^zeros: λ's and ε's shape [wood2006 eq. 3].

    Without weights every weight and power is one: there are then as many factors as cells, so they are multiplied
    and a logarithm is taken only where the product becomes small.
    """
    total = (a - 1.0) * math.log(v) + (b - 1.0 + zeros) * math.log1p(-v)
    if weight.size == 0:
        product = 1.0
        for j in range(n):
            product *= 1.0 - base[j] * (1.0 - v)
            if product < 1e-200:
                total += math.log(product)
                product = 1.0
        return total + math.log(product)
    for j in range(n):
        total += weight[j] * math.log1p(-base[j] * (1.0 - v) ** power[j])
    return total


@njit(cache=True, nogil=True)
def slice_unit(v, base, weight, power, n, zeros, a, b, stream):
    """A new value of v that leaves the density invariant."""
    level = log_density(v, base, weight, power, n, zeros, a, b) + math.log(1.0 - uniform(stream))
    low = 1e-12
    high = 1.0 - 1e-12
    while True:
        new = low + uniform(stream) * (high - low)
        if log_density(new, base, weight, power, n, zeros, a, b) >= level:
            return new
        if new < v:
            low = new
        else:
            high = new
        if high - low < 1e-15:
            return v


@njit(cache=True, nogil=True)
def alpha_density(alpha, degree, n_observed, shape, rate):
    """Gamma(shape, rate) times the finite prior of the links [wood2006 eq. 5]."""
    total = (shape - 1.0) * math.log(alpha) - rate * alpha
    a = alpha / degree.size
    edge = math.log(a) - math.lgamma(n_observed + 1.0 + a)
    for k in range(degree.size):
        total += edge + math.lgamma(degree[k] + a)
    return total


@njit(cache=True, nogil=True)
def slice_alpha(alpha, degree, n_observed, shape, rate, stream):
    """A new α for the finite model, sliced on u = α/(1+α) in (0, 1)."""
    v = alpha / (1.0 + alpha)
    level = alpha_density(alpha, degree, n_observed, shape, rate) - 2.0 * math.log1p(-v)
    level += math.log(1.0 - uniform(stream))
    low = 1e-9
    high = 1.0 - 1e-9
    while True:
        new = low + uniform(stream) * (high - low)
        value = new / (1.0 - new)
        if alpha_density(value, degree, n_observed, shape, rate) - 2.0 * math.log1p(-new) >= level:
            return value
        if new < v:
            low = new
        else:
            high = new
        if high - low < 1e-15:
            return alpha
