"""Bits per slice on test data, all rows of the source's table 2 and ours, on one data set in one run.

    scripts/bench time_tables apnea|chorales|stocks|bat [--quick] [--splits 10] [--parts trees,default]

The rows are those of `scripts/reproduce boyen1999`, which also keeps them; here they are printed as they come.
Everything is chosen inside the training part. apnea: 7 bins, first 20,000 slices against the last 14,000; chorales:
mean of random 71/29 splits; stocks: mixed20, first 1,195 days against the rest, a stock not yet listed is a hole;
bat: the ten sensors, 5,000 slices against the next 10,000. --quick takes fewer slices and leaves slow rows out.
"(apart) counting on" counts while it predicts, which is another task.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from experiments.boyen1999_data import NAMES
from experiments.boyen1999_rows import PARTS, table2

DATA = Path(os.environ.get("LEVERRIER_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=NAMES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args()
    splits = options.splits if options.data == "chorales" and not options.quick else 1
    for part in options.parts.split(","):
        found: dict[str, list[float]] = {}
        begin = time.process_time()
        for split in range(splits):
            for name, bits in table2(options.data, part, options.quick, split, data=DATA).items():
                if name == "about":
                    print(f"    {options.data} {part} #{split}: {bits}", flush=True)
                else:
                    found.setdefault(name, []).append(bits)
        for name, values in found.items():
            spread = f" ± {np.std(values):.3f} over {len(values)} splits" if len(values) > 1 else ""
            print(f"  {options.data}: {name:45s} {np.mean(values):8.3f}{spread}", flush=True)
        print(f"  ({options.data} {part}: {time.process_time() - begin:.0f} s of a core)", flush=True)


if __name__ == "__main__":
    main()
