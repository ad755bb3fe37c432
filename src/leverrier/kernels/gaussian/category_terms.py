"""Categories beside numbers: what a row's states add to the components' log densities, and their expected counts.

codes: (variables, rows), a hole being larger than any state   order: as in gaussian.py
offsets: where each variable's states begin
"""

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def add_category_logs(codes, order, lo, hi, offsets, log_theta, logs):
    """logs[c, i] += Σ over observed variables of log θ_c(state)."""
    for v in range(codes.shape[0]):
        begin, states = offsets[v], offsets[v + 1] - offsets[v]
        for i in range(lo, hi):
            code = codes[v, order[i] if order.size else i]
            if code < states:
                for c in range(logs.shape[0]):
                    logs[c, i - lo] += log_theta[begin + code, c]


@njit(cache=True, nogil=True, error_model="numpy")
def add_category_counts(codes, order, lo, hi, offsets, posterior, counts):
    """counts[state, c] += Σ posterior of c over the rows in that state."""
    for v in range(codes.shape[0]):
        begin, states = offsets[v], offsets[v + 1] - offsets[v]
        for i in range(lo, hi):
            code = codes[v, order[i] if order.size else i]
            if code < states:
                for c in range(posterior.shape[0]):
                    counts[begin + code, c] += posterior[c, i - lo]
