"""Neither pandas nor polars nor pyarrow is required: the same reading where they cannot be imported."""

import os
import subprocess
import sys
import textwrap

PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())

import numpy as np
from leverrier.data.reading import scanning
from leverrier.data.reading.read_table import describe_columns, read_table
from leverrier.data.writing.write_table import write_table
from leverrier.errors import MissingExtraError

cells = {"s": ["x", None, "y", "x"], "n": np.arange(4) % 2, "b": [True, False, None, True], "f": [0.5, 1.5, 2, None]}
table = read_table(cells)
for tall in (50_000, 0):
    scanning._TALL = tall
    for name in ("t.csv", "t.parquet"):
        write_table(table, name)
        back = read_table(name, like=table)
        assert np.array_equal(back.codes, table.codes), name
        assert [decision.name for decision in describe_columns(name)] == list("snbf")
try:
    table.to_pandas()
except MissingExtraError as problem:
    assert "pip install pandas" in str(problem)
else:
    raise AssertionError("pandas was there")
print("read", table.n_rows)
"""


def test_reading_and_writing_without_any_dataframe_library(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path if folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "read 4", run.stderr
