"""Growing a tree the slow way: every split of every node tried by hand."""

from math import lgamma, log


def leaf_score(children, weights, states, alpha):
    counts = [0.0] * states
    for child, weight in zip(children, weights, strict=True):
        counts[child] += weight
    score = lgamma(alpha * states) - lgamma(alpha * states + sum(counts))
    return score + sum(lgamma(alpha + n) - lgamma(alpha) for n in counts)


def candidate_splits(rows, features, ordinal):
    """Distinct ways to cut the rows in two, each once: (feature, kind, value, rows to the left)."""
    for f, column in enumerate(features):
        present = sorted({column[i] for i in rows})
        seen = set()
        ways = [("at most", v) for v in present[:-1]] if ordinal[f] else []
        ways += [("equal", v) for v in present]
        for kind, value in ways:
            left = frozenset(i for i in rows if (column[i] <= value if kind == "at most" else column[i] == value))
            right = frozenset(rows) - left
            if not left or not right or frozenset((left, right)) in seen:
                continue
            seen.add(frozenset((left, right)))
            yield f, kind, value, left


def grow(rows, features, ordinal, child, states, weights, alpha):
    """A nested tuple: (feature, kind, value, left, right) or a leaf's list of rows."""

    def score(part):
        part = sorted(part)
        return leaf_score([child[i] for i in part], [weights[i] for i in part], states, alpha)

    splits = list(candidate_splits(rows, features, ordinal))
    if not splits:
        return sorted(rows)
    here = score(rows)
    gains = [score(left) + score(set(rows) - left) - here - log(len(splits)) for *_, left in splits]
    best = max(range(len(splits)), key=lambda i: gains[i])
    if gains[best] <= 0:
        return sorted(rows)
    f, kind, value, left = splits[best]
    rest = set(rows) - left
    return (
        f,
        kind,
        value,
        grow(left, features, ordinal, child, states, weights, alpha),
        grow(rest, features, ordinal, child, states, weights, alpha),
    )
