"""Independent calls on the workers of a Dask cluster.

Tasks carry what they need, so that the scheduler can run them again: a worker that dies takes nothing with it.
(joblib's Dask backend scatters large arguments instead, and those are lost with the worker that holds them.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

from leverrier.errors import LeverrierError, MissingExtraError, OptionError

Result = TypeVar("Result")
ATTEMPTS = 20
"""How often a task is begun again after the workers that ran it died."""
LOOK, LONELY = 5.0, 60.0
"""Seconds between looks at a task that takes long, and after which a cluster without any worker is given up."""


def connect(address: Any) -> Any:
    """A Dask client: itself, or one for an address such as tcp://10.0.0.1:8786 (tls://… takes the certificates from
    Dask's own configuration)."""
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
        from distributed.comm.registry import get_backend
    except ImportError:
        raise MissingExtraError("a cluster needs Dask: pip install leverrier[cluster]") from None
    if isinstance(address, Client):
        return still_open(address)
    if not isinstance(address, str):
        raise OptionError(f"client={type(address).__name__}: expected a dask.distributed.Client or its address")
    try:
        scheme, place = parse_address(address)  # (a client that was begun in vain complains when it is dropped)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(place)
        return Client(address, timeout=20, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise OptionError(f"no Dask scheduler answers at {address}: {problem}") from None


def still_open(client: Any) -> Any:
    """The client, unless it was closed: Dask's own words for that say nothing of what to do."""
    if client.status == "closed":
        raise LeverrierError("the Dask client is closed: what is asked for now still needs its workers")
    return client


def threads_of(client: Any) -> int:
    """How many calls the cluster runs at once."""
    return max(sum(client.nthreads().values()), 1)


def held(client: Any, value: Any) -> Any:
    """A value that many calls need, as a task that gives it: unlike scattered data it does not die with a worker."""
    return still_open(client).submit(_itself, value, pure=False)


def _itself(value: Result) -> Result:
    return value


def on_cluster(client: Any, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]) -> list[Result]:
    """The results in order. A call whose worker died is run again by the scheduler, or begun again here."""
    return list(each_on_cluster(client, function, calls))


def each_on_cluster(client: Any, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
    """The same, each as soon as it is there."""
    from distributed.comm.core import CommClosedError

    futures = [still_open(client).submit(function, *call, pure=False) for call in calls]
    done = 0
    try:
        for call, future in zip(calls, futures, strict=True):
            result = _begun_again(client, function, call, future)
            done += 1
            yield result
    except (CancelledError, CommClosedError):
        where = client.scheduler.address
        raise LeverrierError(f"the connection to the cluster at {where} was lost: run again") from None
    finally:
        if done < len(calls):
            with suppress(CancelledError, CommClosedError):
                client.cancel(futures[done:])


def _begun_again(client: Any, function: Callable[..., Result], call: tuple[Any, ...], future: Any) -> Result:
    """A call's result, also after Dask has given up on it or on what it was given."""
    from distributed import Future, KilledWorker

    for _ in range(ATTEMPTS - 1):
        try:
            return _awaited(client, future)
        except KilledWorker:
            for given in call:
                if isinstance(given, Future) and given.status == "error":
                    given.retry()  # a part that died with its workers: Dask gives up on it after a few
            future = client.submit(function, *call, pure=False)
    try:
        return _awaited(client, future)
    except KilledWorker as problem:
        raise LeverrierError(f"workers died {ATTEMPTS} times over one task: {problem}") from None


def _awaited(client: Any, future: Any) -> Any:
    """A task's result. A cluster that has lost all its workers would keep it waiting for ever."""
    left = time.monotonic() + LONELY
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if client.nthreads():
                left = time.monotonic() + LONELY
            elif time.monotonic() > left:
                where = client.scheduler.address
                raise LeverrierError(
                    f"the cluster at {where} has had no worker for {LONELY:.0f} s: start some "
                    f"(dask worker {where}) and run again"
                ) from None
