"""Latent class regression against published runs of poLCA: log-likelihoods, coefficients and standard errors.

Figures: poLCA 1.6, help pages `cheating` and `election` (log-likelihoods); the user's manual of poLCA 1.4 (repository
dlinzer/poLCA, doc/poLCA-manual-1-4.tex, "Latent class regression modeling with the election data": three classes by
party, and by party, age and their product: coefficients and errors); for cheating by GPA R's own output, as kept in a
public comparison of another implementation with poLCA. poLCA's standard errors come from the rows' squared scores:
errors_from="scores".
"""

import numpy as np
import pandas as pd
import pytest

import leverrier as lv

TRAITS = ["MORAL", "CARES", "KNOW", "LEAD", "DISHON", "INTEL"]


@pytest.fixture(scope="module")
def cheating(shared_data):
    return lv.latent_classes(
        shared_data / "latent_class" / "cheating.csv", states=2, predictors=["GPA"], errors_from="scores"
    )


def test_cheating_by_gpa(cheating):
    assert cheating.log_likelihood == pytest.approx(-429.6384, abs=5e-5)
    np.testing.assert_allclose(cheating.coefficients.column("estimate"), [0.1134289, -0.8424836], atol=1e-4)
    np.testing.assert_allclose(cheating.coefficients.column("standard_error"), [0.5099159, 0.2813142], atol=1e-4)
    np.testing.assert_allclose(cheating.shares, [0.8218932, 0.1781068], atol=1e-5)
    errors = cheating.standard_errors
    np.testing.assert_allclose(errors["LIEEXAM"][:, 1], [0.01255233, 0.12572255], atol=1e-4)
    np.testing.assert_allclose(errors["LIEPAPER"][:, 1], [0.01894220, 0.09807088], atol=1e-4)
    np.testing.assert_allclose(errors["FRAUD"][:, 1], [0.01393974, 0.07333183], atol=1e-4)
    np.testing.assert_allclose(errors["COPYEXAM"][:, 1], [0.02672687, 0.08743647], atol=1e-4)


def test_the_four_students_without_a_gpa_are_said_and_get_posteriors(cheating):
    assert any("4 rows have no 'GPA'" in note for note in cheating.notes)
    assert cheating.posterior.shape == (319, 2)
    np.testing.assert_allclose(cheating.posterior.sum(axis=1), 1)


def test_plain_cheating_has_the_published_errors(shared_data):
    table = lv.read_table(shared_data / "latent_class" / "cheating.csv", ignore=["GPA"])
    result = lv.latent_classes(table, states=2, indicators=list(table.variables), errors_from="scores")
    assert result.log_likelihood == pytest.approx(-440.0271, abs=5e-5)
    wanted = {
        "LIEEXAM": [0.02941271, 0.18727617],
        "LIEPAPER": [0.03118501, 0.18239628],
        "FRAUD": [0.01516346, 0.08797450],
        "COPYEXAM": [0.02643547, 0.10029747],
    }
    for name, errors in wanted.items():
        np.testing.assert_allclose(result.standard_errors[name][:, 1], errors, atol=2e-4)
    np.testing.assert_allclose(result.standard_errors["class"], [0.07917588, 0.07917588], atol=2e-4)


def test_election_by_party(shared_data):
    frame = pd.read_csv(shared_data / "latent_class" / "election.csv")
    columns = [trait + of for of in "GB" for trait in TRAITS]
    frame = frame[[*columns, "PARTY"]].dropna(subset=columns)
    result = lv.latent_classes(frame, states=3, predictors="PARTY", errors_from="scores", starts=4)
    assert result.log_likelihood == pytest.approx(-16222.32, abs=5e-3)
    found = result.coefficients
    np.testing.assert_allclose(found.column("estimate"), [-3.81813, 0.79327, 1.16155, -0.57436], atol=1e-4)
    np.testing.assert_allclose(found.column("standard_error"), [0.31109, 0.06232, 0.17989, 0.06401], atol=1e-4)
    assert result.table[0].parameters == 112
    assert found.to_frame().shape == (4, 10)


def test_election_by_party_age_and_their_product(shared_data):
    frame = pd.read_csv(shared_data / "latent_class" / "election.csv")
    columns = [trait + of for of in "GB" for trait in TRAITS]
    frame = frame[[*columns, "PARTY", "AGE"]].dropna(subset=columns)
    frame["PARTY:AGE"] = frame["PARTY"] * frame["AGE"]
    chosen = ["PARTY", "AGE", "PARTY:AGE"]
    found = lv.latent_classes(frame, states=3, predictors=chosen, errors_from="scores", starts=4).coefficients
    values = [-4.39452, 0.80682, 0.01314, -0.00020, -0.31445, -0.39923, 0.02967, -0.00310]
    errors = [0.85423, 0.17614, 0.01772, 0.00363, 0.56324, 0.19990, 0.01121, 0.00398]
    np.testing.assert_allclose(found.column("estimate"), values, atol=1e-3)
    np.testing.assert_allclose(found.column("standard_error"), errors, atol=1e-3)
