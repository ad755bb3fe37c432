"""The public names are a contract: this list changes only on purpose."""

import subprocess
import sys

import leverrier

NAMES = """
AIC BIC BDe BDeu FallError FormatError Graph InputError LeverrierError LogLikelihood MissingExtraError Mixture
Network NetworkError OptionError Status Table TableError TooLargeError __version__ cardinality cheeseman_stutz
datasets estimators describe_columns discover Discovery Verdict find_hidden find_in_time find_memories load
mixed_classes MixedNetwork read_mixed_network DynamicNetwork Sequences factorial_hmm fit_dynamic hidden_markov
latent_transitions learn_dynamic read_dynamic read_sequences write_dynamic NormalInverseWishart save_picture
fit fit_mixture from_networkx from_pgmpy from_pyagrum hidden_causes latent_classes learn_structure
read_network read_table score semi_cliques structural_em to_networkx to_pgmpy to_pyagrum write_network write_table
"""
PUBLIC = NAMES.split()


def test_the_public_names_are_these():
    assert sorted(leverrier.__all__) == sorted(PUBLIC)
    assert set(dir(leverrier)) == set(PUBLIC)


def test_every_public_name_is_there_and_says_what_it_is():
    for name in PUBLIC:
        value = getattr(leverrier, name)
        if callable(value):
            assert value.__doc__, f"{name} has no docstring"


def test_importing_loads_nothing_heavy():
    heavy = "numba, sklearn, altair, pandas, polars, duckdb, scipy"
    code = f"import sys, leverrier; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
