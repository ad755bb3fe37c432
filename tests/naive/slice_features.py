"""Features of a slice, computed from its past one step at a time."""

from math import exp

UNKNOWN = None


def history(sequence, t):
    return sequence[:t]


def lag(sequence, t, back):
    return sequence[t - back] if t >= back else UNKNOWN


def average(past, span, states):
    """Older values count exp(−1/span) times less for each slice."""
    known = [(x, len(past) - 1 - i) for i, x in enumerate(past) if x is not None]
    weight = sum(exp(-age / span) for _, age in known)
    return sum(x / (states - 1) * exp(-age / span) for x, age in known) / weight if known else UNKNOWN


def run(past):
    length = 0
    for x in reversed(past):
        if x != past[-1]:
            break
        length += 1
    return length


def since(past, state):
    for age, x in enumerate(reversed(past)):
        if x == state:
            return age + 1
    return UNKNOWN


def before(past):
    for x in reversed(past):
        if x != past[-1]:
            return x
    return UNKNOWN


def total(past, modulus):
    return sum(past) % modulus
