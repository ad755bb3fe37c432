"""Hidden Markov models as a textbook has them: every path enumerated, EM in logarithms, loops in plain Python."""

import itertools
import math

import numpy as np


def enumerated(initial, transitions, logs):
    """ln P of one sequence and P(state | sequence), by all paths; transitions[t] leads from slice t to t + 1."""
    n, k = logs.shape
    total, shares = 0.0, np.zeros((n, k))
    for path in itertools.product(range(k), repeat=n):
        log = math.log(initial[path[0]]) + logs[0, path[0]]
        for t in range(1, n):
            log += math.log(transitions[t - 1][path[t - 1], path[t]]) + logs[t, path[t]]
        chance = math.exp(log)
        total += chance
        for t, s in enumerate(path):
            shares[t, s] += chance
    return math.log(total), shares / total


def log_sum(values):
    top = max(values)
    return top + math.log(sum(math.exp(each - top) for each in values))


def baum_welch(sequences, initial, matrix, parameters, log_law, m_step, steps):
    """EM of one column; log_law(y, parameters[s]) and m_step(ys, weights) tell the law. Returns the log-likelihood."""
    k = len(initial)
    for step in range(steps + 1):
        value, first, moves = 0.0, [0.0] * k, [[0.0] * k for _ in range(k)]
        ys, weights = [], []
        for y in sequences:
            logs = [[log_law(each, parameters[s]) for s in range(k)] for each in y]
            ahead = [[math.log(initial[s]) + logs[0][s] for s in range(k)]]
            for t in range(1, len(y)):
                ahead.append(
                    [logs[t][s] + log_sum([ahead[-1][r] + math.log(matrix[r][s]) for r in range(k)]) for s in range(k)]
                )
            back = [[0.0] * k]
            for t in range(len(y) - 1, 0, -1):
                back.insert(
                    0, [log_sum([math.log(matrix[r][s]) + logs[t][s] + back[0][s] for s in range(k)]) for r in range(k)]
                )
            own = log_sum(ahead[-1])
            value += own
            for t in range(len(y)):
                shares = [math.exp(ahead[t][s] + back[t][s] - own) for s in range(k)]
                ys.append(y[t])
                weights.append(shares)
                if t == 0:
                    first = [a + b for a, b in zip(first, shares, strict=True)]
                else:
                    for r in range(k):
                        for s in range(k):
                            moves[r][s] += math.exp(
                                ahead[t - 1][r] + math.log(matrix[r][s]) + logs[t][s] + back[t][s] - own
                            )
        if step == steps:
            break
        initial = [max(each, 1e-300) / sum(first) for each in first]
        matrix = [[each / sum(row) for each in row] for row in moves]
        parameters = [m_step(ys, [w[s] for w in weights]) for s in range(k)]
    return value
