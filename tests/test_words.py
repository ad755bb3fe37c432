"""Sentences are made in report/words: what lies below hands over values."""

import json
from dataclasses import replace

import pytest

import leverrier
from leverrier.api.saved import dump, load_result
from leverrier.discovery import done
from leverrier.discovery.done import Omitted, Said, Skipped
from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.learning.mixed.mixed_space import Unvarying
from leverrier.report.words.done_words import done_words

STEPS = [
    done.Binned(2),
    done.Filled(1200, fits=True),
    done.Sampled(20_000),
    done.Baseline(3, numbers=True),
    done.Tried(7),
    done.TakenTogether(6, 2, 0.01),
    done.OneClass(tested=False),
    done.ByGroups(30),
    done.LearnedFrom(None),
    done.LearnedFrom(5, arcs=False),
    done.ClassesFitted(),
    done.CausesCompared(0.5, 0.25, ModelKind.CLASSES),
    done.CausesCompared(-0.5, 0.25, ModelKind.NETWORK, 0.25),
    done.CausesDropped(Reason.CAUSES_SIZE),
    done.CausesDropped(end=done.CausesEnd.UNSHARED),
    done.SetAside("a", Unvarying(None)),
    done.HiddenWeighed(4, 3, -7.25, None),
    done.BareClasses(2, ("a", "b"), 7.5, 2),
    done.GroupsSeen((1000, 50), ("b", "c"), 1e-5, 0.014, (2, 3)),
    done.CutShort((Omitted(Skipped.TABLES, "H1", 3, 9), Omitted(Skipped.POWER))),
    Said("as it was written"),
]


@pytest.fixture(scope="module")
def found():
    rows = leverrier.datasets.network("asia").sample(60, seed=1)
    return leverrier.discover(rows, evidence=False, max_hidden=0, jobs=1).result


def test_every_step_is_saved_read_and_said(found):
    assert {type(step) for step in STEPS} == set(done.Step.__args__)
    again = load_result(dump(replace(found, did=tuple(STEPS))))
    assert list(again.did) == STEPS
    words = [done_words(step) for step in again.did]
    assert len(set(words)) == len(words)
    assert "1,200 empty cells" in words[1]
    assert words[-2].endswith("left out: 3 of 9 tables with nothing hidden (H1), what would have been missed")


def test_steps_that_were_sentences_are_still_read(found):
    content = json.loads(dump(found)) | {"did": ["tried 7 candidates"]}
    assert load_result(json.dumps(content)).did == (Said("tried 7 candidates"),)


def test_a_step_of_no_kind_is_refused(found):
    content = json.loads(dump(found)) | {"did": [{"is": "Nonsense"}]}
    with pytest.raises(leverrier.errors.FormatError, match="Nonsense"):
        load_result(json.dumps(content))
