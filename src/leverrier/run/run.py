"""One run: what it may cost, who is told, who helps, and what is kept of it.

A public function turns its plain arguments (budget=, jobs=, progress=, checkpoint=, …) into a Run in one line and
passes that down: nobody below reads a clock, counts processors or opens a checkpoint.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import leverrier
from leverrier.errors import OptionError
from leverrier.run.ahead import Ahead, awaited
from leverrier.run.checkpoint import Checkpoint, Journal, marked
from leverrier.run.cluster import connect
from leverrier.run.codecs import Key, name_of, read_back, same
from leverrier.run.cores import usable_cores
from leverrier.run.event import Event, Progress, Told
from leverrier.run.pool import ALONE, Workers, prepare, streamed
from leverrier.run.stop import Stop, Work
from leverrier.status import Status

Result = TypeVar("Result")

LEAST_SECONDS = 0.01
"""What is left when nothing is: enough for an answer of some kind."""


@dataclass(frozen=True, eq=False)
class Run:
    """How long a run may go on, whom it tells, among whom it shares out its work, and where it keeps pieces of it."""

    deadline: float = math.inf
    """By this machine's own clock."""
    work: Work | None = None
    stop: Stop | None = None
    progress: Progress | None = None
    workers: Workers = ALONE
    ahead: Ahead | None = None
    """Calls that other processes began before they were asked for."""
    journal: Journal | None = None
    """Where pieces of the work are kept, so that it can be resumed."""

    @classmethod
    def of(
        cls,
        budget: float | None = None,
        *,
        work: int | None = None,
        jobs: int | None = 1,
        client: Any = None,
        stop: Stop | None = None,
        progress: Progress | bool | None = None,
    ) -> Run:
        """From a public function's arguments: seconds from now, pieces of work, workers (None: as many as there are
        cores), a cluster or its address. Whether `progress` is shown where nobody listens is not for here to say."""
        if jobs is not None and jobs < 1:
            raise OptionError(f"jobs={jobs!r}: expected at least 1")
        deadline = math.inf if budget is None else time.monotonic() + budget
        cluster = None if client is None else connect(client)
        workers = Workers(usable_cores() if jobs is None else jobs, cluster)
        told = progress if callable(progress) else None
        ahead = Ahead(workers.jobs) if workers.jobs > 1 and cluster is None else None
        return cls(deadline, None if work is None else Work(work), stop, told, workers, ahead)

    def __getstate__(self) -> dict[str, Any]:
        """The deadline by the clock on the wall: another machine's own clock began at another time."""
        return {**self.__dict__, "deadline": self.deadline - time.monotonic() + time.time()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, deadline=state["deadline"] - time.time() + time.monotonic())

    # When to end

    @property
    def late(self) -> bool:
        return self.deadline < math.inf and time.monotonic() > self.deadline

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.asked

    @property
    def spent(self) -> bool:
        """Whether time, work or the user's patience has run out."""
        return self.late or self.stopped or (self.work is not None and not self.work.left)

    @property
    def status(self) -> Status:
        """How the run ended, if it ended now."""
        if self.stopped:
            return Status.INTERRUPTED
        return Status.BUDGET if self.spent else Status.CONVERGED

    def seconds_left(self) -> float | None:
        """A budget for part of this run; None if there is no end to it."""
        if self.stopped:
            return LEAST_SECONDS
        return None if self.deadline == math.inf else max(self.deadline - time.monotonic(), LEAST_SECONDS)

    def worked(self, pieces: int = 1) -> None:
        """So many pieces of work are done, or were before the run was resumed."""
        if self.work is not None:
            self.work.done += pieces

    # The same run, otherwise

    def within(self, seconds: float) -> Run:
        """A part of it, which may take no longer than this."""
        return replace(self, deadline=min(self.deadline, time.monotonic() + seconds))

    def hurried(self) -> Run:
        """For what is kept, and nothing more."""
        return replace(self, progress=None, deadline=0.0)

    def silent(self) -> Run:
        """For work in other processes, which tells nobody and keeps nothing."""
        return Run(self.deadline)

    def unkept(self) -> Run:
        """For a part that shares the workers and the end, but tells nobody, keeps nothing and counts as no work."""
        return replace(self, progress=None, journal=None, work=None)

    def untold(self) -> Run:
        return replace(self, progress=None)

    def shared_by(self, jobs: int) -> Run:
        return replace(self, workers=replace(self.workers, jobs=jobs))

    def stoppable(self) -> Run:
        """With a stop in any case: who is interrupted tells the other threads by it."""
        return self if self.stop is not None else replace(self, stop=Stop())

    def part(self, low: float, high: float) -> Run:
        """A part whose share done goes from `low` to `high` of the whole."""
        tell = self.progress
        if tell is None:
            return self
        return replace(self, progress=lambda what, share: tell(what, low + (high - low) * share))

    @contextmanager
    def kept_in(self, checkpoint: str | os.PathLike[str] | None, resume: bool, name: str, *about: Any) -> Iterator[Run]:
        """The run with a journal, if a folder for it is given: saved at the end, whatever happens. `about` is what the
        run is about, with everything that changes its answer."""
        if checkpoint is None:
            if resume:
                raise OptionError("resume=True: say where the run was kept, checkpoint=…")
            yield self
            return
        mark = marked(name, leverrier.__version__, *about)
        with Journal(Checkpoint(checkpoint, name, mark), resume=resume) as journal:
            yield replace(self, journal=journal)

    # What it says and keeps

    def tell(self, event: Event, share: float = math.nan, *about: Any, said: str = "") -> None:
        """What is being done, and the share of it that is."""
        if self.progress is not None:
            self.progress(Told.of(event, *about, said=said), share)

    def once(
        self,
        key: Key,
        compute: Callable[[], Result],
        write: Callable[[Result], Any] = same,
        read: Callable[[Any], Result] = same,
        otherwise: Callable[[], Result] | None = None,
    ) -> Result:
        """What `compute` gives, taken from the checkpoint if it was worked out before.

        What a budget or an interrupt may have cut short is not kept. When time has run out and nothing is kept,
        `otherwise` is the answer, if there is one.
        """
        kept = self._piece(key)
        if kept is not None:
            self.worked()
            return read_back(read, kept)
        if otherwise is not None and self.spent:
            return otherwise()
        result = compute()
        self._keep(key, result, write)
        self.worked()
        return result

    def kept(self, key: Key, read: Callable[[Any], Result]) -> Result | None:
        """A piece of the checkpoint, if it is there."""
        piece = self._piece(key)
        return None if piece is None else read_back(read, piece)

    def made(self, key: Key, compute: Callable[[], Result]) -> Result:
        """What `compute` gives, at hand when a run that was cut answers from what it has: in memory only, never on
        disk."""
        if self.journal is None:
            return compute()
        name = name_of(key)
        if name not in self.journal.made:
            self.journal.made[name] = compute()
        return self.journal.made[name]

    def is_made(self, key: Key) -> bool:
        return self.journal is not None and name_of(key) in self.journal.made

    def _piece(self, key: Key) -> Any:
        return None if self.journal is None else self.journal.get(name_of(key))

    def _keep(self, key: Key, result: Result, write: Callable[[Result], Any]) -> None:
        if self.journal is not None and not self.spent:
            self.journal.add(name_of(key), write(result))

    # Independent calls

    def map(
        self,
        function: Callable[..., Result],
        calls: Sequence[tuple[Any, ...]],
        keys: Sequence[Key],
        write: Callable[[Result], Any] = same,
        read: Callable[[Any], Result] = same,
    ) -> list[Result]:
        """Each call once, among the workers, in order; fewer if time or the user's patience runs out. Until other
        processes are ready they are worked out here."""
        return list(self._shared(function, function, calls, keys, write, read))

    def in_order(
        self,
        here: Callable[..., Result],
        there: Callable[..., Result],
        calls: Sequence[tuple[Any, ...]],
        keys: Sequence[Key],
        write: Callable[[Result], Any] = same,
        read: Callable[[Any], Result] = same,
    ) -> Iterator[Result]:
        """Each result in its turn: kept ones as they were, others worked out here until other processes are ready, and
        then there. Fewer if time runs out."""
        yield from self._shared(here, there, calls, keys, write, read, first_here=True)

    def _shared(
        self,
        here: Callable[..., Result],
        there: Callable[..., Result],
        calls: Sequence[tuple[Any, ...]],
        keys: Sequence[Key],
        write: Callable[[Result], Any],
        read: Callable[[Any], Result],
        first_here: bool = False,
    ) -> Iterator[Result]:
        for number, (call, key) in enumerate(zip(calls, keys, strict=True)):
            if self.workers.ready and (number or not first_here):
                yield from self._there(there, calls[number:], keys[number:], write, read)
                return
            if self.spent and self._piece(key) is None:
                return
            result: Any = self.once(key, partial(self.begun_or, partial(here, *call), key), write, read)
            if self._given_up(result):
                return
            yield result
            if self.workers.client is None:
                prepare(self.workers.jobs, int)  # (now at the latest: what they will run has been compiled)

    def _given_up(self, result: object) -> bool:
        """Whether a result was not waited for, because time ran out or the user asked to stop."""
        return result is None and (self.stopped or self.late)

    def begin_ahead(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], keys: Sequence[Key], at_once: int = 1
    ) -> None:
        """Have other processes, if there are any, begin with calls that will be asked for with these keys; those that
        are kept from before are not made again. With one at a time this process is not in their way."""
        if self.ahead is None or not self.workers.elsewhere or self.work is not None:
            return
        new = [(call, name_of(key)) for call, key in zip(calls, keys, strict=True) if self._piece(key) is None]
        self.ahead.begin(function, [call for call, _ in new], [name for _, name in new], at_once)

    def begun_or(self, compute: Callable[[], Any], key: Key) -> Any:
        """What another process has begun, or else what `compute` gives; None if time runs out or the user asks to
        stop meanwhile."""
        begun = self._begun(key)
        return compute() if begun is None else awaited(begun, self.stop, compute, self.seconds_left())

    def begin_no_more(self) -> None:
        """Calls that were to be begun and were not are left until they are asked for."""
        if self.ahead is not None:
            self.ahead.begin_no_more()

    def end_ahead(self) -> None:
        """Nobody asks any more for what was begun."""
        if self.ahead is not None:
            self.ahead.end()

    def _begun(self, key: Key) -> Future[Any] | None:
        """The result to come of a call that another process has begun."""
        return None if self.ahead is None or self.ahead.idle else self.ahead.take(name_of(key))

    def _there(
        self,
        there: Callable[..., Result],
        calls: Sequence[tuple[Any, ...]],
        keys: Sequence[Key],
        write: Callable[[Result], Any],
        read: Callable[[Any], Result],
    ) -> Iterator[Result]:
        most = len(calls) if self.work is None else self.work.left
        kept = [self._piece(key) for key in keys[:most]]
        early = [None if piece is not None else self._begun(key) for key, piece in zip(keys, kept, strict=False)]
        left = [call for call, piece, begun in zip(calls, kept, early, strict=False) if piece is None and begun is None]
        results = streamed(self.workers, self.stop, there, left)
        result: Any = None
        for call, key, piece, begun in zip(calls, keys, kept, early, strict=False):
            if piece is None and self.spent:
                return
            if piece is None and begun is not None:
                result = awaited(begun, self.stop, partial(there, *call), self.seconds_left())
            elif piece is None:
                result = next(results, None)
            if piece is None and result is None:
                return
            if piece is None:
                self._keep(key, result, write)
            self.worked()  # (before it is handed out: whoever needs no more than this one does not come back)
            yield result if piece is None else read_back(read, piece)


UNBOUNDED = Run()
"""Takes what it takes, alone, and tells nobody."""
