"""Whether what was found in sequences comes back from persons or blocks drawn anew, and whatever the workers."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.sequences.panel import panel_of
from leverrier.discovery.regimes.column_roles import number_columns, roles_of
from leverrier.discovery.regimes.regime_support import resampled


def regime(seed=0, n=300):
    rng = np.random.default_rng(seed)
    state = (np.cumsum(rng.random(n) < 0.04) % 2).astype(int)
    return {"x": rng.normal(2.5 * state), "y": rng.normal(-2.5 * state), "idle": rng.normal(size=n)}


def test_a_regime_comes_back_whatever_the_workers_and_the_page_says_so(tmp_path):
    found, other = (
        lv.discover(regime(), method="sequences", draws=4, level=0.2, resamples=2, jobs=jobs) for jobs in (1, 2)
    )
    one, same = found.hidden[0].evidence, other.hidden[0].evidence
    assert one.support >= 0.5
    assert one.links["x"] == one.links["y"] == one.support
    assert one.links.get("idle", 0.0) < one.support
    assert (one.gain, one.null_gains, one.support, one.links) == (same.gain, same.null_gains, same.support, same.links)
    found.save(tmp_path / "found.json")
    again = lv.load(tmp_path / "found.json")
    assert again.hidden[0].evidence.support == one.support
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"came back in {100 * one.support:.0f} % of the resamples" in page
    assert f"p = {one.p_value:.2g}" in page
    assert "three standard errors" not in page  # (that is what the search by trees asks)


def test_persons_or_blocks_are_drawn():
    one = lv.read_sequences(regime())
    panel = panel_of(one, number_columns(one))
    block = np.arange(300) // 20
    drawn = resampled(panel, roles_of(panel), block, np.random.default_rng(1))
    out = np.isnan(drawn.values["x"])
    assert drawn.n_slices == 300
    assert 0.1 < out.mean() < 0.7
    assert all(len(set(out[block == each])) == 1 for each in range(15))  # (whole blocks)
    np.testing.assert_array_equal(out, np.isnan(drawn.values["y"]))
    many = regime(1, 25 * 12) | {"id": np.repeat(np.arange(25), 12)}
    several = lv.read_sequences(many, by="id")
    panel = panel_of(several, number_columns(several))
    drawn = resampled(panel, roles_of(panel), np.zeros(300, dtype=np.int64), np.random.default_rng(1))
    assert 5 < drawn.persons < 25
    assert drawn.n_slices == 12 * drawn.persons
    rows = {tuple(row) for row in panel.values["x"].reshape(25, 12).tolist()}
    assert {tuple(row) for row in drawn.values["x"].reshape(-1, 12).tolist()} <= rows  # (whole persons)


def test_the_sources_loop_takes_no_resamples():
    with pytest.raises(lv.OptionError, match="resamples"):
        lv.discover(regime(), method="boyen1999", resamples=3)
