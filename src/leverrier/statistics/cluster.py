"""Parts of a file on the workers of a Dask cluster, and independent calls there.

Tasks carry what they need, so that the scheduler can run them again: a worker that dies takes nothing with it.
(joblib's Dask backend scatters large arguments instead, and those are lost with the worker that holds them.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leverrier.data.parts import FileParts
from leverrier.errors import LeverrierError, MissingExtraError, OptionError
from leverrier.statistics.parted import CountedRows, answer

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
    except ImportError:
        raise MissingExtraError("a cluster needs Dask: pip install leverrier[cluster]") from None
    if isinstance(address, Client):
        return address
    if not isinstance(address, str):
        raise OptionError(f"client={type(address).__name__}: expected a dask.distributed.Client or its address")
    try:
        return Client(address, timeout=20, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise OptionError(f"no Dask scheduler answers at {address}: {problem}") from None


def threads_of(client: Any) -> int:
    """How many calls the cluster runs at once."""
    return max(sum(client.nthreads().values()), 1)


def on_cluster(client: Any, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]) -> list[Result]:
    """The results in order. A call whose worker died is run again by the scheduler, or begun again here."""
    return list(each_on_cluster(client, function, calls))


def each_on_cluster(
    client: Any, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
) -> Iterator[Result]:
    """The same, each as soon as it is there."""
    from distributed import Future, KilledWorker

    futures = [client.submit(function, *call, pure=False) for call in calls]
    try:
        for number, call in enumerate(calls):
            for attempt in range(ATTEMPTS):
                try:
                    yield _awaited(client, futures[number])
                    break
                except KilledWorker as problem:
                    if attempt == ATTEMPTS - 1:
                        raise LeverrierError(f"workers died {ATTEMPTS} times over one task: {problem}") from None
                    for given in call:
                        if isinstance(given, Future) and given.status == "error":
                            given.retry()  # a part that died with its workers: Dask gives up on it after a few
                    futures[number] = client.submit(function, *call, pure=False)
    finally:
        client.cancel(futures)


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
                raise LeverrierError(f"the cluster at {where} has had no worker for {LONELY:.0f} s: start some "
                                     f"(dask worker {where}) and run again") from None  # fmt: skip


class ClusterParts:
    """A file's rows in parts: each part is distinct rows with whole weights, held by a worker and made again from the
    file if that worker is lost. How a file is parted does not depend on the workers."""

    def __init__(self, client: Any, file: FileParts) -> None:
        self.columns = file.columns
        self.total = float(file.n_rows)
        self._client = client
        self._parts = [client.submit(_read, file, *rows, pure=False) for rows in file.ranges()]
        self.full: NDArray[np.bool_] = np.logical_and.reduce(self.ask("full"))

    def ask(self, question: str, *about: Any) -> list[Any]:
        """What each part says, in the order of the parts."""
        return on_cluster(self._client, answer, [(part, question, about) for part in self._parts])

    def each(self, question: str) -> Iterator[Any]:
        """The same, one part after another, so that only one answer is here at a time."""
        for part in self._parts:
            yield from on_cluster(self._client, answer, [(part, question, ())])


def _read(file: FileParts, start: int, stop: int) -> CountedRows:
    return CountedRows(file.read(start, stop))
