"""The source's loop: arcs that skip slices become memories, which remember."""

import numpy as np
import pytest

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.sequences.read_sequences import lagged
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table
from leverrier.discovery.time.find_memories import (
    MemoryVariable,
    NonMarkovArc,
    find_memories,
    memories_for,
    noisy_copy,
    search_stages,
    skipping_arcs,
)
from leverrier.errors import OptionError
from leverrier.learning.slices.learn_dynamic import learn_dynamic
from leverrier.learning.structure.score import BDeu, family_score

YES_NO = ("no", "yes")


def echo(n=1500, seed=0, back=2):
    """A is random, B repeats what A was `back` slices ago, mostly."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, np.roll(a, back), rng.integers(0, 2, n))
    return Sequences.from_table(Table.from_codes(dict.fromkeys("AB", YES_NO), np.stack([a, b])))


def test_arcs_that_skip_slices_carry_what_the_score_loses_without_them():
    data = echo()
    counts = ObservedCounts(data.windows(3))
    parents = {"A": (), "B": (("A", 2), ("B", 1))}
    (arc,) = skipping_arcs(counts, parents, BDeu())
    with_it, without = (
        family_score(BDeu(), counts.tables([Family("B", tuple(lagged(*node) for node in above))])[0], counts.total)
        for above in (parents["B"], (("B", 1),))
    )
    assert (arc.parent, arc.lag, arc.child) == ("A", 2, "B")
    assert arc.gain == pytest.approx(with_it - without)
    assert arc.gain > 300


def test_an_arc_of_d_slices_too_many_asks_for_d_memories_once():
    arcs = [NonMarkovArc("A", 3, "B", 9.0), NonMarkovArc("A", 2, "C", 5.0), NonMarkovArc("B", 4, "A", 1.0)]
    made = memories_for(arcs, (), 3)
    assert [(memory.of, memory.depth) for memory in made] == [("A", 1), ("A", 2)]  # those of B would be three more
    assert memories_for(arcs, made, 3) == tuple(MemoryVariable(f"B memory {d}", "B", d) for d in (1, 2, 3))


def test_a_new_memory_is_a_noisy_copy_that_leans_to_staying():
    table = noisy_copy(3)
    assert np.allclose(table.sum(axis=-1), 1.0)
    assert table[0, 1, 0] > table[0, 1, 1] > table[0, 1, 2]


def test_a_memory_stands_in_for_the_arc_that_skipped_a_slice():
    data = echo()
    found = find_memories(data, lags=3, iterations=1)
    assert [(memory.of, memory.depth) for memory in found.memories] == [("A", 1)]
    fully, zero, one = found.rounds
    assert found.network.order == 1
    assert (("A memory 1", 1), "B") in found.network.edges
    assert fully.bits > zero.bits + 0.3
    fresh = echo(seed=1)
    assert found.network.bits_per_slice(fresh) == pytest.approx(zero.network.bits_per_slice(fresh), abs=0.02)
    assert one.name == "iteration 1"
    assert "A memory 1 remembers A of 2 time steps back and drives B" in found.words


def test_nothing_to_remember_is_said():
    rng = np.random.default_rng(2)
    data = Sequences.from_table(Table.from_codes(dict.fromkeys("AB", YES_NO), rng.integers(0, 2, (2, 400))))
    found = find_memories(data, lags=2)
    assert found.memories == ()
    assert "nothing needs to be remembered" in found.words


def test_search_in_stages_on_plain_counts_finds_what_the_whole_search_finds():
    data = echo(back=1)
    whole = learn_dynamic(data, 2)
    start = learn_dynamic(data, 2, within=False, forbidden=[(("A", 1), "B")]).network
    found = search_stages(ObservedCounts(data.windows(2)), start, 2, BDeu(), 4)
    assert {name: set(found[name]) for name in found} == {name: set(whole.network.parents(name)) for name in found}


def test_one_lag_cannot_skip():
    with pytest.raises(OptionError, match="lags=1"):
        find_memories(echo(100), lags=1)
