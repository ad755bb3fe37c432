"""Rows drawn from a model with something hidden behind numbers: as all columns say, and as tables are read."""

from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.numbers.behind_hidden import _as_seen
from leverrier.learning.behind.child_fits import fitted
from leverrier.learning.behind.space_block import block_of, known
from leverrier.learning.mixed.learn_mixed import space_of
from leverrier.models.behind.behind_model import BehindModel
from leverrier.models.behind.block import Block
from leverrier.models.behind.child_density import log_density
from leverrier.models.behind.links import Link, Mode, classes


def some_columns(rows=200):
    rng = np.random.default_rng(3)
    x = rng.normal(size=rows)
    return {
        "x": x,
        "skewed": np.exp(x + rng.normal(size=rows)),
        "word": np.array(["low", "mid", "high"])[rng.integers(0, 3, rows)],
        "grade": rng.integers(1, 6, rows),
        "y": x + rng.normal(size=rows),
    }


@pytest.mark.parametrize(
    "link",
    [
        Link("y", ("x", "word"), 0, Mode.SHIFT),
        Link("skewed", ("grade", "y"), 0, Mode.ALL),
        Link("word", ("grade",), 0, Mode.TABLE),
        Link("grade", ("y", "word"), 0, Mode.LOGIT),
    ],
)
def test_a_child_is_drawn_as_the_design_of_all_columns_says(link):
    table = lv.read_table(some_columns())
    space = space_of(table)
    block, latent = block_of(space), classes(np.array([0.4, 0.6]))
    places = np.random.default_rng(0).integers(0, 2, block.rows)
    fit = fitted(block, latent, link, 0.05 + 0.9 * np.eye(2)[places])
    model = BehindModel(tuple(map(known, space.columns)), latent, (link,), (fit,), table.columns)
    cells = {column.name: column.cells for column in space.columns if column.name != link.column}
    drawn = model.draw(link.column, places, cells, np.random.default_rng(1))

    rng, every = np.random.default_rng(1), np.arange(block.rows)
    seen = block.columns[link.column]
    if link.mode.of_number:
        slopes = fit.slopes if fit.shared else fit.slopes[places]
        mean = fit.constants[places] + (block.design[:, fit.terms] * slopes).sum(axis=1)
        assert drawn == pytest.approx(mean + np.sqrt(fit.variances[places]) * rng.normal(size=block.rows))
        return
    shares = []
    for state in range(seen.states):
        column = replace(seen, codes=np.full(block.rows, state))
        same = Block(block.design, {**block.columns, link.column: column})
        shares.append(np.exp(log_density(same, latent, link, fit))[every, places])
    upto = np.cumsum(shares, axis=0)
    assert upto[-1] == pytest.approx(1.0, abs=1e-9)
    assert np.array_equal(drawn, (rng.random(block.rows) * upto[-1] >= upto).sum(axis=0))


def test_drawn_rows_are_seen_as_the_same_rows_read_again():
    rng = np.random.default_rng(5)
    table = {**some_columns(), "many": rng.integers(0, 12, 200), "yes": rng.random(200) < 0.5}
    like = lv.read_table(table, types={"many": "category"}, bins={"x": [-0.5, 0.5]})
    others = {name: np.roll(cells, 1) for name, cells in table.items() if name != "y"}
    others["x"] = np.where(rng.random(200) < 0.1, np.nan, others["x"])
    others["word"] = np.where(rng.random(200) < 0.1, "odd", others["word"])
    drawn = lv.read_table(others, types={"many": "number"})
    again = lv.read_table(others, like=like, unseen="hole")
    seen = _as_seen(drawn, like)
    assert np.array_equal(seen.codes, again.codes)
    assert seen.columns == again.columns
    assert set(seen.raw) == {"x", "skewed"} <= set(again.raw)
    assert np.array_equal(seen.raw["x"], again.raw["x"], equal_nan=True)
    assert (seen.column("y") == seen.missing).all()
    assert "many" in drawn.raw
    assert not like.columns[like.index("many")].cuts
