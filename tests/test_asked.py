"""What was asked of `discover` is kept as a value, and asks the same again."""

from leverrier.discovery.asked import Asked
from leverrier.plain_values import plain, read_plain


def test_only_what_was_not_left_at_its_default_is_said_again():
    asked = Asked(max_hidden=1, draws=99, level=0.01, ignore=("id",), types={"age": "number"}, seed=0)
    assert asked.options == {
        "level": 0.01,
        "draws": 99,
        "max_hidden": 1,
        "ignore": ["id"],
        "types": {"age": "number"},
        "seed": 0,
    }


def test_without_tests_their_numbers_are_not_said():
    assert Asked(evidence=False, draws=0, resamples=0).options == {"evidence": False, "seed": 0}


def test_it_is_the_same_after_a_file_and_older_files_have_fewer_parts():
    asked = Asked(
        by=("clinic", "patient"), time="day", join={"colour": ("red", "blue")}, missing=("-9",), finished=False
    )
    assert read_plain(plain(asked), Asked) == asked
    old = read_plain({"seed": 3, "draws": 19, "yes": {"cough": 1}, "version": "0.1.0"}, Asked)
    assert (old.seed, old.draws, old.version, old.finished) == (3, 19, "0.1.0", True)
