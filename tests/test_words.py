"""Sentences are made in report/words: what lies below hands over values."""

import json
import sys
from dataclasses import replace

import pytest

import leverrier
from leverrier.api.saved import dump, load_result
from leverrier.discovery import done
from leverrier.discovery.done import Omitted, Said, Skipped
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.states.cardinality_result import ColumnAsked
from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.inference.taken_apart import TakenApart
from leverrier.learning import noted
from leverrier.learning.mixed.mixed_space import Unvarying
from leverrier.learning.mixtures import mixture_notes
from leverrier.models.impossible import ImpossibleRows, ImpossibleSequence
from leverrier.noisy_or import sampler_notes
from leverrier.report.words.bet_words import chance_words
from leverrier.report.words.done_words import done_words
from leverrier.report.words.verdict_words import compressor_words
from leverrier.status import Status
from leverrier.words_of import Note, told

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
    done.TraitsTogether(2, 3, 900, 12.5),
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


def hidden(gain=2.2):
    return HiddenVariable("H1", 3, ("a", "b", "c"), (), gain, "semi-clique", "no arcs among its children")


def test_no_gain_is_compared_with_another_searchs():
    """The data gained 2.2 nats by the whole search and nothing by the quick one that simulated tables get."""
    lost = Evidence(0.0, (0.0, 0.0, 0.0), 1.0, accepted=False, tested=True)
    said = compressor_words(replace(hidden(), evidence=lost))
    assert "gain 2.2 nats" in said
    assert "does not find it again" in said
    assert "as much" not in said
    beaten = Evidence(1.5, (1.6, 1.7, 0.0), 0.75, accepted=False, tested=True)
    said = compressor_words(replace(hidden(), evidence=beaten))
    assert "gains 1.5 nats here; of 3 simulated tables without it 2 gained as much, the largest 1.7 nats" in said
    alike = compressor_words(replace(hidden(1.5), evidence=beaten))
    assert "quick" not in alike


@pytest.mark.parametrize(
    ("best", "said"), [(18.4, "None of 99 "), (11.0, "0 of 99 "), (23.8, "1 of 99 "), (30.0, "1 of 99 ")]
)
def test_near_is_said_of_no_table_that_was_near(best, said):
    one = Evidence(23.8, (best, *[0.0] * 98), 0.01, tested=True, level=0.01)
    words = chance_words(one)
    assert words.startswith(said)
    assert ("came near" in words) == (best < 23.8 / 2)
    assert ("reached it" in words) == (23.8 / 2 <= best < 23.8)
    assert ("gained as much" in words) == (best >= 23.8)


NOTES = [
    noted.AvailableCases(3),
    noted.RefinedByEM(3),
    noted.FittedWhereSeen(3),
    noted.LeftAside("a", "it has only the value 1"),
    noted.ColumnAside("a", Unvarying(None)),
    TakenApart(12, 1000),
    ImpossibleRows(2),
    ImpossibleSequence(),
    ColumnAsked("a"),
    sampler_notes.ChainLeftOut(2),
    sampler_notes.CausesRepeated(),
    sampler_notes.NotYesNo(("a", "b")),
    sampler_notes.RarerIsYes("a", "ill"),
    mixture_notes.Collapsed((1.0, 2.5), 7),
    mixture_notes.PutElsewhere(mixture_notes.Trouble.EMPTY, 0.0, None),
    mixture_notes.PutElsewhere(mixture_notes.Trouble.TWIN, 3.0, 1.25),
    mixture_notes.EmptyComponent(3),
    mixture_notes.ThinComponent(3, 1.2, 4, prior=True),
    mixture_notes.TwinComponents(1, 2),
    mixture_notes.BestStartEnded(Status.ITERATION_LIMIT),
    mixture_notes.TooFewRows(),
    mixture_notes.StartsGivenUp(1, 4),
    mixture_notes.ColumnDetermined("a"),
    mixture_notes.ClassColumns(("a",), ()),
]


def test_every_note_has_words_of_its_own():
    said = told(NOTES)
    assert len(set(said)) == len(said)
    assert all("object at" not in each and each for each in said)
    kinds = {type(note) for note in NOTES}
    for module in {sys.modules[kind.__module__] for kind in kinds}:
        own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
        assert {each for each in own if issubclass(each, Note)} <= kinds, f"{module.__name__}: a note is not here"


def test_a_note_without_words_is_an_error():
    class Unsaid(Note):
        pass

    with pytest.raises(TypeError, match="no words for Unsaid"):
        told([Unsaid()])


@pytest.mark.parametrize(
    "step",
    [done.Baseline(1, False), done.Baseline(1, True), done.Binned(1), done.Tried(1), done.TakenTogether(1, 1, None)],
)
def test_of_one_there_is_no_plural(step):
    said = done_words(step)
    assert "1 " in said
    for plural in ("1 arcs", "1 columns", "1 candidates", "1 hidden variables", "1 rounds"):
        assert plural not in said
