"""Draws the figures of docs/gallery.md from bundled networks and simulated data: `python docs/gallery.py`.

Each entry is a heading, the lines that a reader can paste, and the name of the chart they end in.
"""

from __future__ import annotations

from pathlib import Path

import leverrier as lv

FOLDER = Path(__file__).parent
FIGURES = FOLDER / "figures"

ENTRIES = {
    "graph": (
        "A network, a node of it hidden",
        """
net = lv.datasets.network("asia")
chart = net.plot_graph(hidden=["either"])
""",
    ),
    "hidden": (
        "A hidden variable found in a table, with its support",
        """
alarm = lv.datasets.network("alarm").sample(2000, seed=0)
around = ["CATECHOL", "INSUFFANESTH", "TPR", "STROKEVOLUME", "CO", "BP", "HRBP", "HREKG", "HRSAT"]
found = lv.discover(alarm.select(around), draws=5, resamples=2, max_hidden=1, seed=0)
chart = found.plot_network()
""",
    ),
    "evidence": (
        "Its gain beside those of simulated tables with nothing hidden",
        """
chart = found.plot_evidence()
""",
    ),
    "states": (
        "What its states look like",
        """
chart = found.plot_states()
""",
    ),
    "merges": (
        "How many states: the merge tree [elidan2001 figure 2]",
        """
data = lv.datasets.network("alarm").sample(1000, seed=0).drop("HYPOVOLEMIA")
counted = lv.cardinality(lv.datasets.network("alarm"), data, hidden="HYPOVOLEMIA", seed=0)
chart = counted.plot_merges()
""",
    ),
    "scores": (
        "… and the score against the number of states",
        """
chart = counted.plot_scores()
""",
    ),
    "classes": (
        "Latent classes",
        """
child = lv.datasets.network("child").sample(1500, seed=0)
classes = lv.latent_classes(child.select(["Grunting", "CO2", "LungParench", "ChestXray", "XrayReport"]), states=3)
chart = classes.plot_profiles()
""",
    ),
    "links": (
        "Overlapping causes: which sign belongs to which",
        """
signs, truth = lv.datasets.hidden_causes(n_observed=8, n_causes=3, n_trials=300, seed=1)
causes = lv.hidden_causes(signs, sweeps=200, chains=2, seed=0)
chart = causes.plot_links()
""",
    ),
    "structure": (
        "… and as a graph [wood2006 figure 6]",
        """
chart = causes.plot_structure()
""",
    ),
    "mixture": (
        "A mixture of Gaussians",
        """
import numpy as np
rng = np.random.default_rng(0)
x = np.concatenate([rng.normal((0, 0), 1, (150, 2)), rng.normal((4, 1), (0.5, 1.5), (150, 2))])
chart = lv.fit_mixture(x, components="auto", seed=0).plot(x)
""",
    ),
    "ribbon": (
        "Hidden states along a sequence",
        """
import numpy as np
rng = np.random.default_rng(1)
regime = np.repeat(rng.integers(0, 2, 12), 20)
mood = np.where(rng.random(240) < 0.2 + 0.6 * regime, "high", "low").tolist()
days = {"id": [0] * 240, "day": list(range(240)), "mood": mood}
diary = lv.read_sequences(days, by="id", time="day")
chain = lv.hidden_markov(diary, states=2, seed=0)
chart = chain.network.plot_states(diary)
""",
    ),
    "forecast": (
        "… and what is expected next",
        """
chart = chain.network.plot_forecast(diary, "mood", 10)
""",
    ),
}


def main() -> None:
    FIGURES.mkdir(exist_ok=True)
    names: dict[str, object] = {"lv": lv}
    words = (
        "Written by `python docs/gallery.py`. Every figure with the lines that draw it; "
        '`lv.save_picture(chart, "figure.svg")` writes PNG, SVG or PDF.'
    )
    page = ["# Gallery", "", words, "", "```python", "import leverrier as lv", "```", ""]
    for key, (title, lines) in ENTRIES.items():
        exec(lines, names)  # (the very lines that the page shows)
        lv.save_picture(names["chart"], FIGURES / f"gallery-{key}.png")
        page += [f"## {title}", "", "```python", lines.strip(), "```", "", f"![{title}](figures/gallery-{key}.png)", ""]
    (FOLDER / "gallery.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()
