"""What a run is busy with, as words: the value of an event *is* the message, with places for what it is about."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any


class Event(Enum):
    """A stage of a run, or a step of one. Whoever shows progress goes by the event; its words are for people."""

    LOADING = "loading"
    READING = "reading"
    DRAWING = "drawing"
    CONVERTING = "converting"
    STATES_OF_ROWS = "states of rows"
    WRITING = "writing"
    PAGE = "the page"
    EXPERIMENT = "experiment {}"

    BASELINE = "the best network without hidden variables"
    GLANCE = "candidates, at a glance"
    CANDIDATES = "candidates"
    NULL_TABLES = "tables with nothing hidden"
    ONE_CLASS_TABLES = "tables with one class"
    RESAMPLES = "resamples"
    CLASSES_OR_ARCS = "classes or arcs"
    MIXED_CLASSES = "classes over numbers and categories"
    HIDDEN_NUMBERS = "networks, classes and continua over numbers and states"
    HELD_OUT_ROWS = "held-out rows"
    OVERLAPPING_CAUSES = "overlapping causes"
    UNEXPLAINED = "what is left unexplained"

    COLUMN_ORDER = "the order of columns"
    LAGS = "{} lags"
    HIDDEN_CHAINS = "hidden chains on {}"
    MEMORIES = "memories"
    MEMORY_ROUND = "memories, {}"
    HELD_OUT_BLOCKS = "held-out blocks"

    START = "start {} of {}"
    COMPONENTS_START = "{} components, start {} of {}"
    CLASSES_START = "{} classes, {}, start {} of {}"
    CLASSES = "{} classes"
    BOOTSTRAP = "{} against {} classes"
    STATES = "{} states"
    STATES_OF = "{} with {} states"
    STATES_FOR_NOW = "{} has {} states for now"
    STATES_TOGETHER = "together: {}"
    MOVE = "{}"
    ROUND = "round {}"
    SAMPLED_CHAIN = "chain {}"

    @property
    def is_step(self) -> bool:
        """Whether such events are the steps of one task, whose share done they tell; else each is a task of its own."""
        return self in _STEPS

    def __str__(self) -> str:
        return self.value


_STEPS = frozenset(
    {
        Event.START,
        Event.COMPONENTS_START,
        Event.CLASSES_START,
        Event.CLASSES,
        Event.BOOTSTRAP,
        Event.STATES,
        Event.STATES_OF,
        Event.STATES_FOR_NOW,
        Event.STATES_TOGETHER,
        Event.MOVE,
        Event.ROUND,
    }
)


class Told(str):
    """A line of progress: its words, which event they are of, and the words without what is said beyond them."""

    event: Event
    task: str

    @classmethod
    def of(cls, event: Event, *about: Any, said: str = "") -> Told:
        """The event's words, filled in, and what is `said` of it beyond them."""
        task = event.value.format(*about)
        told = cls(f"{task}: {said}" if said else task)
        told.event, told.task = event, task
        return told


Progress = Callable[[Told, float], None]
"""Called with a line and the share of its task that is done: from 0 to 1, or NaN where nobody knows."""
