"""The sources' experiments: their cheapest units, claims that numbers decide, and nothing run gives no verdict."""

import pytest

from experiments import em, experiments
from experiments.command import NAMES
from experiments.elidan2000_cases import figure2_line, over_plain, real_line
from experiments.elidan2000_claims import Case, claims
from experiments.elidan2001 import show as show_states
from experiments.elidan2001_claims import LEFT_OUT_OF_20
from experiments.elidan2001_states import alarm_24, alarm_variables, deviations, four_hidden, tree
from experiments.tables import split, stocks, table_of
from leverrier import datasets


@pytest.mark.parametrize("name", experiments.NAMES)
def test_without_results_every_claim_is_not_run_and_units_differ(name):
    experiment = experiments.experiment(name)
    shown = experiment.show({}, False)
    assert len(shown.claims) >= 2
    assert {claim.verdict for claim in shown.claims} == {"not run"}
    for quick in (True, False):
        units = experiment.units(quick, 0)
        assert len({unit.key for unit in units}) == len(units)
        assert len({unit.identity for unit in units}) == len(units)


def test_the_command_line_names_them_all():
    assert set(experiments.NAMES) <= set(NAMES)


def test_em_holds_to_the_texts_numbers():
    found = {unit.key: unit.run(None) for unit in em.units(True, 0) if unit.key in ("candy", "parameters")}
    decided = [claim for claim in em.show(found, True).claims if claim.holds is not None]
    assert len(decided) == 4
    assert all(claim.holds for claim in decided)
    found["parameters"]["without"] = 707
    assert em.show(found, True).claims[0].verdict == "does not hold"


def test_the_24_variables_of_alarm():
    alarm = datasets.network("alarm")
    assert len(alarm_24(alarm)) == 24
    assert len(alarm_variables(alarm)) == 20
    assert set(alarm_24(alarm)) - set(alarm_variables(alarm)) == set(LEFT_OUT_OF_20)


def test_hypovolemia_and_the_size_of_samples():
    found = {"figure 2": tree("HYPOVOLEMIA", 1000, 0), "figure 4 250": deviations(250, 1)}
    shown = show_states(found, True)
    decided = {claim.claim[:8]: claim for claim in shown.claims if claim.holds is not None}
    assert set(decided) == {"Figure 2", "Figure 4"}
    assert decided["Figure 2"].holds
    assert found["figure 2"]["first"] - 1 == len(found["figure 2"]["gains"])
    assert found["figure 2"]["first"] <= 16
    assert len(found["figure 4 250"]) == 24
    found["figure 2"]["states"] = 5
    assert not show_states(found, True).claims[0].holds


def test_the_network_of_four_hidden_variables():
    network = four_hidden()
    assert [network.cardinality(name) for name in ("h0", "h1", "h2", "h3")] == [3, 2, 4, 3]
    assert set(network.parents("h3")) == {"h1", "h2"}
    assert all(network.cardinality(name) == 2 for name in network.variables if "_" in name)


def line(gains, original=-10.0, test=0.01):
    ways = dict(zip(("fixed", "region", "full"), gains, strict=True)) | {"naive": -100.0, "original": original}
    return {way: {"gain": gain, "test nats a row": test, "F1": 1.0, "seconds": 1.0} for way, gain in ways.items()}


def plain(climbed, strongest, source, ours):
    scores = {"plain": climbed, "strongest": strongest, "source": source, "ours": ours}
    return {way: {"score": score, "test": score / 1000} for way, score in scores.items()}


def test_claims_of_figure_2_follow_the_numbers():
    good = Case("good", line((10, 50, 50)), plain(0, 40, 30, 80))
    bad = Case("bad", line((0, 0, 0)), plain(0, 10, 5, 8))
    assert good.repaired == pytest.approx(0.5)
    assert bad.repaired == 1.0
    by = {claim.claim: claim for claim in claims([good], {})}
    assert by["Hidden outperforms the strongest search in score, by more than 3 nats"].holds
    assert by["The variants with structure search score better than the fixed one"].holds
    assert by["Hidden scores better than Original"].holds
    lost = {claim.claim: claim for claim in claims([bad], {})}
    assert not lost["Hidden outperforms the strongest search in score, by more than 3 nats"].holds
    assert "bad" in lost["Hidden outperforms the strongest search in score, by more than 3 nats"].reason
    assert lost["Hidden outperforms No-hidden (plain hill-climbing) in score"].holds
    fixed_wins = {claim.claim: claim for claim in claims([Case("odd", line((60, 50, 50)), None)], {})}
    assert not fixed_wins["The variants with structure search score better than the fixed one"].holds


def test_a_case_of_figure_2_in_small():
    found = figure2_line("asia", "either", 300, 0, False)
    assert {"baseline", "region", "fixed", "full", "naive", "original"} <= set(found)
    assert found["region"]["gain"] >= 0
    over = over_plain("asia", "either", 300, 0)
    assert over["strongest"]["score"] >= over["plain"]["score"] - 1e-9
    assert over["ours"]["score"] >= over["plain"]["score"]


def test_the_real_tables(shared_data):
    assert (stocks(shared_data).n_rows, len(stocks(shared_data).variables)) == (1516, 20)
    training, test = split(table_of("nhefs", shared_data), 0)
    assert (training.n_rows, test.n_rows) == (1086, 543)
    found = real_line("tb_maryland", 0, shared_data)
    assert "original" not in found
    assert found["region"]["gain"] >= 0
