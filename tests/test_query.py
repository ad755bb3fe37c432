"""What a network says of rows with holes, against full enumeration and against laws it must obey."""

import math

import numpy as np
import pandas as pd
import pytest

from leverrier.data.table import Table
from leverrier.errors import NetworkError, OptionError, TableError, TooLargeError
from leverrier.inference.approximate.loopy import loopy
from leverrier.inference.exact.factors import Factor
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.naive import enumeration


def random_network(rng, most=7):
    n = int(rng.integers(2, most + 1))
    names = [f"v{i}" for i in rng.permutation(n)]
    parents = {name: rng.permutation(names[:i])[: int(rng.integers(0, 4))].tolist() for i, name in enumerate(names)}
    parents = {name: parents[name] for name in rng.permutation(names).tolist()}  # any order, not parents first
    states = {name: tuple(range(int(rng.integers(1, 5)))) for name in parents}
    tables = {}
    for name in parents:
        values = rng.random([len(states[v]) for v in (*parents[name], name)])
        values[(rng.random(values.shape) < 0.15) & (values < values.max(axis=-1, keepdims=True))] = 0.0
        tables[name] = values / values.sum(axis=-1, keepdims=True)
    return Network.build(Graph.from_parents(parents), states, tables)


def plain(network):
    """Cardinalities and factors, for enumeration."""
    number = {name: i for i, name in enumerate(network.variables)}
    factors = [Factor(tuple(number[v] for v in (*network.parents(n), n)), network.cpt(n)) for n in network.variables]
    return [network.cardinality(n) for n in network.variables], factors


def holed(rng, network, rows, absent=0.2):
    """Codes with holes: some columns absent altogether, the others holed at a rate of their own."""
    codes = np.array([rng.integers(0, network.cardinality(n), rows) for n in network.variables])
    rates = np.where(rng.random(len(codes)) < absent, 1.0, rng.choice([0.0, 0.3, 0.7], len(codes)))
    codes[rng.random(codes.shape) < rates[:, None]] = -1
    codes[rng.integers(len(codes)), 0] = 0  # at least one column must be there
    return codes


def table_of(network, codes):
    """The table without the columns that are all holes."""
    there = [i for i in range(len(codes)) if (codes[i] >= 0).any()]
    states = {network.variables[i]: network.states[network.variables[i]] for i in there}
    return Table.from_codes(states, codes[there])


@pytest.fixture(params=["tree", "row by row", "row by row, large groups to the tree"])
def way(request, monkeypatch):
    """Each way that rows can be taken: all of them must agree."""
    if request.param != "tree":
        monkeypatch.setattr("leverrier.inference.exact.hole_groups.MANY_PATTERNS", 0)
    if "large" in request.param:
        monkeypatch.setattr("leverrier.inference.exact.hole_groups.LARGEST_GROUP", 5)


@pytest.mark.usefixtures("way")
def test_everything_equals_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(150):
        network = random_network(rng)
        codes = holed(rng, network, 12)
        data = table_of(network, codes)
        model = (*plain(network), codes)
        each = network.row_log_likelihood(data)
        np.testing.assert_allclose(each, enumeration.log_evidence(*model), rtol=0, atol=1e-10)
        number = int(rng.integers(len(codes)))
        blanked = codes.copy()
        blanked[number] = -1
        expected = enumeration.posterior(*plain(network), blanked, (number,))
        got = network.posterior(data, network.variables[number])
        possible = enumeration.log_evidence(*plain(network), blanked) > -np.inf
        np.testing.assert_allclose(got[possible], expected[possible], rtol=0, atol=1e-10)
        filled = network.complete(data)
        _, best = enumeration.most_probable(*model)
        assert filled.variables == network.variables
        possible = best > -np.inf
        assert filled.take(possible).n_missing == 0
        np.testing.assert_allclose(
            network.row_log_likelihood(filled.take(possible)), best[possible], rtol=0, atol=1e-10
        )
        kept = codes >= 0
        assert np.array_equal(filled.codes[kept], codes[kept])


def test_joint_posterior_of_several_variables():
    rng = np.random.default_rng(1)
    for _ in range(60):
        network = random_network(rng, most=6)
        codes = holed(rng, network, 6)
        asked = rng.permutation(len(codes))[: int(rng.integers(1, 4))].tolist()
        blanked = codes.copy()
        blanked[asked] = -1
        possible = enumeration.log_evidence(*plain(network), blanked) > -np.inf
        got = network.posterior(table_of(network, codes), [network.variables[i] for i in asked])
        expected = enumeration.posterior(*plain(network), blanked, tuple(asked))
        np.testing.assert_allclose(got[possible], expected[possible], rtol=0, atol=1e-10)


def test_a_posterior_with_everything_else_observed_sees_the_blanket_alone():
    rng = np.random.default_rng(2)
    network = random_network(rng, most=7)
    data = network.sample(200, seed=3)
    name = network.variables[3]
    some = data.select([*network.blanket(name)]) if network.blanket(name) else data.select([name])
    np.testing.assert_allclose(network.posterior(data, name), network.posterior(some, name), atol=1e-12)


def test_weights_count_rows():
    rng = np.random.default_rng(4)
    network = random_network(rng)
    data = table_of(network, network.sample(20, seed=0).codes.astype(int))
    counts = rng.integers(0, 4, 20)
    weighted = Table(data.columns, data.codes, counts.astype(float))
    repeated = data.take(np.repeat(range(20), counts))
    assert network.log_likelihood(weighted) == pytest.approx(network.log_likelihood(repeated))


def test_an_impossible_row_of_weight_zero_counts_for_nothing():
    network = Network.build(Graph.from_parents({"a": []}), {"a": "xy"}, {"a": [1.0, 0.0]})
    data = Table.from_codes({"a": "xy"}, np.array([[0, 1]]), np.array([2.0, 0.0]))
    assert network.log_likelihood(data) == 0.0
    assert network.log_likelihood(Table.from_codes({"a": "xy"}, np.array([[0, 1]]))) == -math.inf


def test_impossible_rows():
    network = Network.build(
        Graph.from_parents({"a": [], "b": ["a"], "c": ["b"]}),
        dict.fromkeys("abc", "xy"),
        {"a": [1.0, 0.0], "b": [[1.0, 0.0], [0.5, 0.5]], "c": [[0.9, 0.1], [0.2, 0.8]]},
    )
    data = Table.from_codes({"b": "xy", "c": "xy"}, np.array([[1, 0, 1], [-1, -1, 0]]))
    assert np.isneginf(network.row_log_likelihood(data)).tolist() == [True, False, True]
    assert network.posterior(data, "a").tolist() == [[0, 0], [1, 0], [0, 0]]
    np.testing.assert_allclose(network.posterior(data, "c"), [[0.2, 0.8], [0.9, 0.1], [0.2, 0.8]])
    filled = network.complete(data)
    assert filled.column("a").tolist() == [filled.missing, 0, filled.missing]
    assert "2 rows cannot happen" in filled.notes[-1]


def test_dataframes_with_labels_nulls_and_columns_in_any_order():
    network = Network.build(
        Graph.from_parents({"rain": [], "wet": ["rain"]}),
        {"rain": ("no", "yes"), "wet": ("dry", "wet")},
        {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.3, 0.7]]},
    )
    frame = pd.DataFrame({"wet": ["wet", None, "dry"], "rain": ["yes", "no", None], "other": [1, 2, 3]})
    expected = np.log([0.2 * 0.7, 0.8, 0.8 * 0.9 + 0.2 * 0.3])
    np.testing.assert_allclose(network.row_log_likelihood(frame), expected)
    assert network.log_likelihood(frame) == pytest.approx(expected.sum())
    wet = np.array([0.8 * 0.1, 0.2 * 0.7])
    np.testing.assert_allclose(network.posterior(frame, "rain")[0], wet / wet.sum())
    assert network.complete(frame).to_pandas()["wet"].tolist() == ["wet", "dry", "dry"]
    with pytest.raises(TableError, match="snow"):
        network.log_likelihood(pd.DataFrame({"rain": ["snow"]}))


def test_bad_questions_get_one_clear_line():
    network = random_network(np.random.default_rng(5))
    data = network.sample(3, seed=0)
    with pytest.raises(NetworkError, match="no node 'nowhere'"):
        network.posterior(data, "nowhere")
    with pytest.raises(OptionError, match="different"):
        network.posterior(data, [network.variables[0]] * 2)
    with pytest.raises(OptionError, match="method='guess'"):
        network.log_likelihood(data, method="guess")


def test_rows_in_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(10)
    network = random_network(rng)
    data = table_of(network, holed(rng, network, 23))
    name = network.variables[1]
    whole = network.row_log_likelihood(data), network.posterior(data, name), network.complete(data).codes
    monkeypatch.setattr("leverrier.models.network_query.BLOCK", 5)
    np.testing.assert_allclose(network.row_log_likelihood(data), whole[0], atol=1e-12)
    np.testing.assert_allclose(network.posterior(data, name), whole[1], atol=1e-12)
    assert np.array_equal(network.complete(data).codes, whole[2])


def test_no_rows():
    network = random_network(np.random.default_rng(6))
    nothing = network.sample(0, seed=0)
    assert network.log_likelihood(nothing) == 0.0
    assert network.posterior(nothing, network.variables[0]).shape == (0, network.cardinality(network.variables[0]))
    assert network.complete(nothing).n_rows == 0


def test_what_is_too_large_says_so_and_can_be_approximated():
    """A hidden grid with one noisy sign a cell: 900 hidden variables that all hang together."""
    k = 30
    rng = np.random.default_rng(7)
    parents, tables = {}, {}
    for i in range(k):
        for j in range(k):
            above = [f"h{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            parents[f"h{i}_{j}"] = above
            tables[f"h{i}_{j}"] = rng.dirichlet([3, 3], [2] * len(above))
            parents[f"s{i}_{j}"] = [f"h{i}_{j}"]
            tables[f"s{i}_{j}"] = [[0.8, 0.2], [0.2, 0.8]]
    network = Network.build(Graph.from_parents(parents), dict.fromkeys(parents, (0, 1)), tables)
    data = network.sample(2, seed=0)
    signs = data.select([name for name in data.variables if name.startswith("s")])
    with pytest.raises(TooLargeError, match='method="approximate"'):
        network.log_likelihood(signs)
    rough = network.log_likelihood(signs, method="approximate")
    assert math.isfinite(rough)
    corner = network.posterior(signs, "h0_0", method="approximate")
    np.testing.assert_allclose(corner.sum(axis=1), 1)
    # With every other hidden cell known the corner is exact, and the messages find it too.
    near = data.drop("h0_0")
    np.testing.assert_allclose(
        network.posterior(near, "h0_0", method="approximate"), network.posterior(near, "h0_0"), atol=1e-7
    )


def test_messages_that_do_not_settle_are_said_to(monkeypatch):
    monkeypatch.setattr("leverrier.models.network_query.loopy", lambda *model: loopy(*model, max_iterations=1))
    network = random_network(np.random.default_rng(5))
    data = network.sample(3, seed=0).select(network.variables[:1])
    with pytest.warns(UserWarning, match="did not settle in 3 of 3 rows"):
        network.posterior(data, network.variables[1], method="approximate")


def test_the_sums_of_a_real_network(shared_data):
    """ALARM with holes: one einsum over all tables is another way to the same numbers."""
    from leverrier.formats.network_files import read_network

    network = read_network(shared_data / "networks" / "alarm.bif")
    rng = np.random.default_rng(8)
    codes = network.sample(4, seed=0).codes.astype(int)
    codes[rng.random(codes.shape) < np.array([0.1, 0.4, 0.8, 1.0])] = -1
    codes[5, 3] = 0
    cardinalities, factors = plain(network)
    data = table_of(network, codes)
    each, posterior = network.row_log_likelihood(data), network.posterior(data, "HR")
    target = network.variables.index("HR")
    for row in range(4):
        operands = []
        for variable, state in enumerate(codes[:, row]):
            if state >= 0 and variable != target:
                operands += [np.eye(cardinalities[variable])[state], [variable]]
        for factor in factors:
            operands += [factor.values, list(factor.scope)]
        weights = np.einsum(*operands, [target], optimize="greedy")
        np.testing.assert_allclose(posterior[row], weights / weights.sum(), atol=1e-10)
        total = weights[codes[target, row]] if codes[target, row] >= 0 else weights.sum()
        assert each[row] == pytest.approx(math.log(total), abs=1e-10)


@pytest.mark.parametrize("name", ["andes", "water"])
def test_the_chain_rule_on_large_networks(shared_data, name):
    """P(evidence) is the product of P(each cell | the cells before it), each from another posterior."""
    from leverrier.formats.network_files import read_network

    network = read_network(shared_data / "networks" / f"{name}.bif")
    data = network.sample(1, seed=1)
    seen = list(np.random.default_rng(9).permutation(network.variables)[:5])
    total = 0.0
    for i, variable in enumerate(seen):
        before = data.select(seen[:i] or [variable])
        total += math.log(network.posterior(before, variable)[0, data.column(variable)[0]])
    assert network.log_likelihood(data.select(seen)) == pytest.approx(total, abs=1e-10)


def test_munin1_is_refused_whole_and_answered_where_evidence_allows(shared_data):
    from leverrier.formats.network_files import read_network
    from leverrier.inference.exact.junction import JunctionTree

    network = read_network(shared_data / "networks" / "munin1.bif")
    cardinalities, factors = plain(network)
    with pytest.raises(TooLargeError, match=r"largest clique: \d+ variables"):
        JunctionTree.build(cardinalities, [factor.scope for factor in factors])
    data = network.sample(50, seed=0)
    half = data.select(network.variables[::2])
    assert np.all(network.row_log_likelihood(half) >= network.row_log_likelihood(data))
    np.testing.assert_allclose(network.posterior(half, network.variables[1]).sum(axis=1), 1)
