"""What the tests share."""

import os
from pathlib import Path

import hypothesis
import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the project; a user's machine has none, and then we say so."""
    folder = Path(os.environ.get("LEVERRIER_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the real data is not here: set LEVERRIER_DATA to its folder to run this test")
    return folder


# On a continuous-integration machine the same examples are tried every time; a developer's run looks for new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")
