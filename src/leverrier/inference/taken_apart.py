"""What exact inference could not hold, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.words_of import Note


@dataclass(frozen=True)
class TakenApart(Note):
    """So many unobserved variables hang together that a clique tree would have more cells than are allowed; they are
    taken as independent given what is observed."""

    variables: int
    cells: int
