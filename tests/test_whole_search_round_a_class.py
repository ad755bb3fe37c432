"""A search of all arcs round where rows stand: its scores, and what only it finds."""

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.discovery.numbers.number_rival import learn_rival
from leverrier.discovery.numbers.number_rule import weigh
from leverrier.learning.behind.child_fits import fitted, floored
from leverrier.learning.behind.completed import CompletedScores, Round, split_places
from leverrier.learning.behind.space_block import block_of
from leverrier.learning.behind.state_links import expected_score
from leverrier.learning.mixed.learn_mixed import expanded, space_of
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.models.behind.child_density import log_density
from leverrier.models.behind.links import Link, classes, dimension_of


def pupils(rows, seed):
    """Home and hours act on four marks, a track on all of them and on plans; who is in which track."""
    rng = np.random.default_rng(seed)
    track = rng.random(rows) < 0.5
    home = rng.integers(1, 6, rows)
    hours = rng.normal(6 + home, 2.5)
    base = 0.25 * (hours - 9) + 0.15 * (home - 3)

    def mark(lift):
        return np.clip(np.round(3 + base + lift + rng.normal(0, 0.9, rows)), 1, 6).astype(int)

    columns = {"maths": ~track, "physics": ~track, "english": track, "french": track}
    plans = np.where(rng.random(rows) < np.where(track, 0.2, 0.7), "engineer", "other")
    marks = {name: mark(1.3 * up) for name, up in columns.items()}
    return pd.DataFrame({"home": home, "hours": hours, **marks, "plans": plans}), track


@pytest.fixture(scope="module")
def school():
    frame, track = pupils(800, 2)
    space = space_of(expanded(lv.read_table(frame)), 0)
    known = np.column_stack([track, ~track]).astype(float)
    return space, block_of(space), known, track


def test_a_number_under_a_known_class_scores_as_its_regression():
    rng = np.random.default_rng(3)
    h = rng.random(400) < 0.4
    a = rng.normal(0, 1, 400)
    frame = pd.DataFrame({"a": a, "b": a + 1.5 * h + rng.normal(0, 1, 400), "c": rng.normal(0, 1, 400)})
    space = space_of(expanded(lv.read_table(frame)), 0)
    block, known = block_of(space), np.column_stack([~h, h]).astype(float)
    completed = CompletedScores(MixedScores(space), block, classes(known.mean(axis=0)), known, ("shift",))
    names = space.names
    score, link = completed.linked(names.index("b"), frozenset({names.index("a"), completed.hidden}))
    assert link.parents == ("a",)
    z = {name: space.columns[names.index(name)].scores for name in names}
    x = np.column_stack([np.ones(400), z["a"], h])
    rest = z["b"] - x @ np.linalg.lstsq(x, z["b"], rcond=None)[0]
    variance = floored(float(rest @ rest), 400)
    wanted = -0.5 * (400 * np.log(2 * np.pi * variance) + float(rest @ rest) / variance) - 4 * 0.5 * np.log(400)
    assert completed.linked(names.index("b"), frozenset({names.index("a"), completed.hidden}))[0] == score
    assert score >= wanted - 1e-6  # (another face of the number may be better, never worse)
    if link.face == 0:
        assert score == pytest.approx(wanted, abs=1e-6)


def test_alike_rows_of_a_logit_are_counted_once(school):
    _, block, known, _ = school
    soft = 0.8 * known + 0.1
    latent = classes(soft.mean(axis=0))
    links = [Link("maths", (), 0, "logit"), Link("french", ("home",), 0, "logit"), Link("plans", ("home",), 0, "logit")]
    quick = [expected_score(block, latent, np.ascontiguousarray(soft.T), link) for link in links]
    every_row = [log_density(block, latent, link, fitted(block, latent, link, soft)) for link in links]
    paid = [dimension_of(block, latent, link) * block.price for link in links]
    wanted = [(soft * logs).sum() - price for logs, price in zip(every_row, paid, strict=True)]
    assert quick == pytest.approx(wanted, abs=1e-6)


def test_em_after_a_whole_search_never_falls(school):
    space, block, known, _ = school
    rival = learn_rival(MixedScores(space), 0, shakes=0)
    about = Round(block, rival.scores, rival, rival.parents, ("shift", "all"))
    first = about.first(known)
    assert first is not None
    assert np.all(np.diff(first.behind.trace) > -1e-6)
    assert about.again(first).score >= first.score


def test_a_class_beside_observed_causes_is_found(school):
    """The rival turns the arcs round (marks above home), and changing one column at a time cannot turn them back."""
    space, _, _, track = school
    found = weigh(space, 0)
    assert found.told == "class"
    assert set(found.chosen.children) >= {"maths", "physics", "english", "french"}
    agree = (found.chosen.behind.posterior.argmax(axis=1) == track).mean()
    assert max(agree, 1 - agree) > 0.8


def test_with_the_track_in_the_table_nothing_is_hidden():
    frame, track = pupils(500, 2)
    frame["track"] = np.where(track, "languages", "sciences")
    assert weigh(space_of(expanded(lv.read_table(frame)), 0), 0).told == "nothing"


def test_split_places_share_what_was_one():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([1, 1, 1], 50)
    for each in split_places(posterior, rng.normal(size=(50, 4))):
        assert each.shape == (50, 4)
        assert np.allclose(each.sum(axis=1), 1)
