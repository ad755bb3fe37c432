"""Parts of a file on the workers of a Dask cluster: held there, and made again from the file with a worker's death."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.parted_counts import CountedRows, Question, answer
from leverrier.data.file_parts import FileParts
from leverrier.run.cluster import on_cluster, still_open


class OnWorkers:
    """Something for each part of a file, held by workers and made again if they are lost."""

    def __init__(self, client: Any, futures: list[Any]) -> None:
        self._client = client
        self._parts = futures

    def ask(self, question: Question, *about: Any) -> list[Any]:
        """What each part says, in the order of the parts."""
        return on_cluster(self._client, answer, [(part, question, about) for part in self._parts])

    def each(self, question: Question, *about: Any) -> Iterator[Any]:
        """The same, one part after another, so that only one answer is here at a time."""
        for part in self._parts:
            yield from on_cluster(self._client, answer, [(part, question, about)])

    def keep(self, question: Question, *about: Any) -> OnWorkers:
        """The answers stay with the workers, and are made again from the parts, and those from the file."""
        made = [still_open(self._client).submit(answer, part, question, about, pure=False) for part in self._parts]
        return OnWorkers(self._client, made)


class ClusterParts(OnWorkers):
    """A file's rows in parts: each part is distinct rows with whole weights, held by a worker and made again from the
    file if that worker is lost. How a file is parted does not depend on the workers."""

    def __init__(self, client: Any, file: FileParts) -> None:
        super().__init__(client, [client.submit(_read, file, *rows, pure=False) for rows in file.ranges()])
        self.columns = file.columns
        self.total = float(file.n_rows)
        self.full: NDArray[np.bool_] = np.logical_and.reduce(self.ask("full"))


def _read(file: FileParts, start: int, stop: int) -> CountedRows:
    return CountedRows(file.read(start, stop))
