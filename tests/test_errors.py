"""What a signal raises into numerical work comes out as itself."""

import signal
from contextlib import nullcontext

import numba
import numpy as np
import pytest

from leverrier.errors import Cut, as_raised

TRIES = 60


@numba.njit(nogil=True)
def parts(a, b):
    """Results that take a while to hand over."""
    return a[1:], b[:2], a[0] + b[0]


def broken_into(how, around=nullcontext):
    """What comes out of work that an alarm breaks into."""

    def alarm(*_):
        raise how

    a, b = np.ones(10), np.ones(10)
    parts(a, b)
    before = signal.signal(signal.SIGALRM, alarm)
    try:
        with around():
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            while True:
                parts(a, b)
    except (SystemError, how) as error:
        return type(error)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("how", [Cut, KeyboardInterrupt])
def test_a_signal_within_numba_comes_out_as_what_it_raised(how):
    if SystemError not in {broken_into(how) for _ in range(TRIES)}:
        pytest.skip("this Numba hands over results without looking at signals")
    assert {broken_into(how, as_raised) for _ in range(TRIES)} == {how}


def test_other_system_errors_are_left_alone():
    with pytest.raises(SystemError, match="ours"), as_raised():
        raise SystemError("ours")
    with pytest.raises(SystemError), as_raised():
        raise SystemError("with a cause") from ValueError("other")
