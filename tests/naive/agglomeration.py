"""Agglomeration the slow way: try every pair, complete the rows with the merged states, rescore every family."""

from itertools import combinations
from math import inf, log

from tests.naive.counts import count_table, dirichlet_score, log_likelihood


def completed_score(rows, weights, assigned, parents, states, hidden, rule):
    """Score of the families that hold the hidden variable; `rows` are dicts (None: a hole), `parents` is the graph."""
    k = len(set(assigned))
    number = {state: place for place, state in enumerate(sorted(set(assigned)))}
    full = [{**row, hidden: number[state]} for row, state in zip(rows, assigned, strict=True)]
    sizes = {**states, hidden: k}
    total = 0.0
    for child, above in parents.items():
        if child == hidden or hidden in above:
            cells = count_table(full, weights, child, above, sizes)
            total += rule(cells, sizes[child])
    return total


def bde(alpha):
    return lambda cells, child_states: dirichlet_score(cells, child_states, alpha)


def bdeu(strength):
    return lambda cells, child_states: dirichlet_score(cells, child_states, strength / len(cells))


def bic(total):
    return lambda cells, child_states: (
        log_likelihood(cells, child_states) - 0.5 * log(total) * (child_states - 1) * (len(cells) // child_states)
    )


def first_assignment(rows, parents, hidden):
    """One state for each distinct configuration of the blanket."""
    children = [child for child, above in parents.items() if hidden in above]
    blanket = sorted({*parents[hidden], *children, *(p for c in children for p in parents[c])} - {hidden})
    keys = [tuple(row[name] for name in blanket) for row in rows]
    number = {}
    return [number.setdefault(key, len(number)) for key in keys]


def best_merge(rows, weights, assigned, parents, states, hidden, rule):
    """The best score that merging one pair of states can give, and the assignment that has it."""
    best, chosen = -inf, None
    for i, j in combinations(sorted(set(assigned)), 2):
        merged = [i if state == j else state for state in assigned]
        value = completed_score(rows, weights, merged, parents, states, hidden, rule)
        if value > best:
            best, chosen = value, merged
    return best, chosen


def agglomerate(rows, weights, parents, states, hidden, rule):
    """[(k, score, the set of sets of rows)] from the first states to one."""
    assigned = first_assignment(rows, parents, hidden)
    score = completed_score(rows, weights, assigned, parents, states, hidden, rule)
    path = [(len(set(assigned)), score, partition(assigned))]
    while path[-1][0] > 1:
        score, assigned = best_merge(rows, weights, assigned, parents, states, hidden, rule)
        path.append((path[-1][0] - 1, score, partition(assigned)))
    return path


def partition(assigned):
    groups = {}
    for row, state in enumerate(assigned):
        groups.setdefault(state, set()).add(row)
    return frozenset(frozenset(group) for group in groups.values())
