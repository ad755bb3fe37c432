"""Messages through time: each slice runs a short program of operations on flat arrays.

operations: code, target, source (or family), first map entry, cells, cells of the target
"""

import math

import numpy as np
from numba import njit

SET, TIMES, SET_FAMILY, TIMES_FAMILY, SUM, MAXIMUM, RATIO, SCALE, COUNT, KEEP, ONES = range(11)


@njit(cache=True, nogil=True, error_model="numpy")
def run(operations, maps, offsets, t, theta, work, counts, kept):
    """One slice's operations; gives back the logarithm of what scaling took out."""
    log_scale = 0.0
    for o in range(operations.shape[0]):
        code, target, source, first, cells, size = operations[o]
        if code == SET_FAMILY:
            base = offsets[source, t]
            for i in range(cells):
                work[target + i] = theta[base + maps[first + i]]
        elif code == TIMES_FAMILY:
            base = offsets[source, t]
            for i in range(cells):
                work[target + i] *= theta[base + maps[first + i]]
        elif code == SET:
            for i in range(cells):
                work[target + i] = work[source + maps[first + i]]
        elif code == TIMES:
            for i in range(cells):
                work[target + i] *= work[source + maps[first + i]]
        elif code == SUM:
            for i in range(size):
                work[target + i] = 0.0
            for i in range(cells):
                work[target + maps[first + i]] += work[source + i]
        elif code == MAXIMUM:
            for i in range(size):
                work[target + i] = 0.0
            for i in range(cells):
                place = target + maps[first + i]
                work[place] = max(work[place], work[source + i])
        elif code == RATIO:
            for i in range(cells):
                below = work[source + i]
                work[target + i] = work[target + i] / below if below > 0.0 else 0.0
        elif code == SCALE:
            total = 0.0
            for i in range(cells):
                total += work[target + i]
            if total > 0.0:
                log_scale += math.log(total)
                for i in range(cells):
                    work[target + i] /= total
            else:
                log_scale = -np.inf
        elif code == COUNT:
            base = offsets[source, t]
            for i in range(cells):
                counts[base + maps[first + i]] += work[target + i]
        elif code == KEEP:
            for i in range(cells):
                kept[t, maps[first + i]] += work[target + i]
        else:
            for i in range(cells):
                work[target + i] = 1.0
    return log_scale


@njit(cache=True, nogil=True)
def pass_forward(plan, programs, operations, maps, offsets, theta, work, messages, log_likelihood, counts, kept):
    """plan: slice, program, where the message from the slice before lies, where this slice's goes (in `messages`)
    programs: first operation and end of the way forward, of the way back, cells of the messages in and out."""
    for k in range(plan.shape[0]):
        t, p, source, target = plan[k]
        begin, end, _, _, n_in, n_out = programs[p]
        for i in range(n_in):
            work[i] = messages[source + i]
        log_likelihood[t] += run(operations[begin:end], maps, offsets, t, theta, work, counts, kept)
        for i in range(n_out):
            messages[target + i] = work[n_in + i]


@njit(cache=True, nogil=True)
def pass_backward(plan, programs, operations, maps, offsets, theta, work, messages, smoothed, counts, kept):
    """`smoothed` holds the posteriors of what `messages` holds; each slice finds those of the slice before it."""
    for k in range(plan.shape[0] - 1, -1, -1):
        t, p, source, target = plan[k]
        _, _, begin, end, n_in, n_out = programs[p]
        for i in range(n_in):
            work[i] = messages[source + i]
        for i in range(n_out):
            before = messages[target + i]
            work[n_in + i] = smoothed[target + i] / before if before > 0.0 else 0.0
        run(operations[begin:end], maps, offsets, t, theta, work, counts, kept)
        for i in range(n_in):
            smoothed[source + i] = work[n_in + n_out + i]
