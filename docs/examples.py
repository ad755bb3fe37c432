"""A small example for every public function, as its page shows it; tests/test_function_pages.py runs them all.

Each stands by itself after `import leverrier as lv` and writes into the folder that it is run in.
"""

from __future__ import annotations

DIARY = """
import numpy as np

rng = np.random.default_rng(0)
spell = np.repeat([0, 1, 0, 1, 1, 0], 20)
mood = np.where(rng.random(120) < np.where(spell == 1, 0.9, 0.2), "low", "good").tolist()
days = {"who": ["ann"] * 60 + ["bob"] * 60, "day": list(range(60)) * 2, "mood": mood}
diary = lv.read_sequences(days, by="who", time="day")
"""
SURVEY = """
import numpy as np

rng = np.random.default_rng(0)
group = rng.random(200) < 0.5
answers = {name: np.where(rng.random(200) < np.where(group, 0.9, 0.2), "yes", "no").tolist() for name in "ABCD"}
"""
HEART = """
rows = lv.datasets.network("alarm").sample(600, seed=0)
table = rows.select(["CATECHOL", "STROKEVOLUME", "CO", "HRBP", "HREKG", "HRSAT"])
"""

EXAMPLES = {
    "discover": HEART
    + """
found = lv.discover(table, draws=3, level=0.25, resamples=0, max_hidden=1, seed=0)
print(found)
print(found.verdict, found.verdict.reason)
found.report("report.html", live=False)
""",
    "load": HEART
    + """
lv.discover(table, evidence=False, seed=0).save("findings.json")
found = lv.load("findings.json")
print(found.headline)
""",
    "save_picture": """
chart = lv.datasets.network("asia").plot_graph(hidden=["either"])
lv.save_picture(chart, "asia.svg")
""",
    "read_table": """
with open("people.csv", "w") as file:
    file.write("age,smokes\\n34,yes\\n51,no\\n,yes\\n")
table = lv.read_table("people.csv")
print(table)
""",
    "describe_columns": """
for column in lv.describe_columns({"age": [34, 51, 29], "smokes": ["yes", "no", "yes"]}):
    print(column)
""",
    "write_table": """
table = lv.datasets.network("asia").sample(5, seed=0)
lv.write_table(table, "asia.csv")
""",
    "read_sequences": DIARY
    + """
print(diary)
""",
    "read_network": """
lv.write_network(lv.datasets.network("asia"), "asia.bif")
print(lv.read_network("asia.bif"))
""",
    "write_network": """
lv.write_network(lv.datasets.network("asia"), "asia.json")  # .bif, .xmlbif, .net and .xdsl too
""",
    "read_mixed_network": """
import numpy as np

rng = np.random.default_rng(0)
size = rng.normal(size=200)
table = lv.read_table({"size": size, "weight": 2 * size + rng.normal(size=200)})
lv.write_network(lv.learn_structure(table, families="auto").network, "sizes.json")
print(lv.read_mixed_network("sizes.json"))
""",
    "from_networkx": """
import networkx as nx

print(lv.from_networkx(nx.DiGraph([("rain", "wet"), ("hose", "wet")])))
""",
    "to_networkx": """
print(lv.to_networkx(lv.datasets.network("asia")).number_of_edges())
""",
    "from_pgmpy": """
import pgmpy

print(lv.from_pgmpy(lv.to_pgmpy(lv.datasets.network("asia"))))
""",
    "to_pgmpy": """
import pgmpy

print(lv.to_pgmpy(lv.datasets.network("asia")))
""",
    "from_pyagrum": """
import pyagrum

print(lv.from_pyagrum(lv.to_pyagrum(lv.datasets.network("asia"))))
""",
    "to_pyagrum": """
import pyagrum

print(lv.to_pyagrum(lv.datasets.network("asia")))
""",
    "learn_structure": """
rows = lv.datasets.network("asia").sample(500, seed=0)
learned = lv.learn_structure(rows)
print(learned.network.graph.edges)
""",
    "score": """
net = lv.datasets.network("asia")
print(lv.score(net, net.sample(500, seed=0), lv.BDeu()))
""",
    "semi_cliques": """
print(lv.semi_cliques(lv.datasets.network("asia").graph))
""",
    "find_hidden": HEART
    + """
found = lv.find_hidden(table, seed=0)
for each in found.hidden:
    print(each.name, each.states, each.children, round(each.gain, 1))
""",
    "cardinality": """
net = lv.datasets.network("asia")
counted = lv.cardinality(net, net.sample(500, seed=0).drop("either"), hidden="either", seed=0)
print(counted)
""",
    "fit": """
net = lv.datasets.network("asia")
fitted = lv.fit(net.graph, net.sample(500, seed=0).drop("either"), hidden={"either": 2}, seed=0)
print(fitted.network.cpt("either"))
""",
    "structural_em": """
net = lv.datasets.network("asia")
learned = lv.structural_em(net.graph, net.sample(300, seed=0).drop("either"), hidden={"either": 2}, seed=0)
print(learned.network.graph.edges)
""",
    "cheeseman_stutz": """
net = lv.datasets.network("asia")
print(lv.cheeseman_stutz(net, net.sample(300, seed=0).drop("either")))
""",
    "latent_classes": SURVEY
    + """
classes = lv.latent_classes(answers, states=range(1, 4), starts=5, seed=0)
print(classes)
classes.report("classes.html", live=False)
""",
    "mixed_classes": SURVEY
    + """
answers["height"] = np.where(group, 170, 180) + rng.normal(0, 3, 200)
classes = lv.mixed_classes(answers, states=range(1, 4), starts=3, seed=0)
print(classes.profiles)
""",
    "hidden_causes": """
signs, truth = lv.datasets.hidden_causes(n_observed=6, n_causes=2, n_trials=100, seed=1)
causes = lv.hidden_causes(signs, sweeps=60, chains=2, seed=0)
print(causes)
causes.report("causes.html", live=False)
""",
    "fit_mixture": """
import numpy as np

rng = np.random.default_rng(0)
points = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(4, 1, (100, 2))])
fitted = lv.fit_mixture(points, components=range(1, 4), seed=0)
print(fitted.table)
""",
    "find_in_time": DIARY
    + """
found = lv.find_in_time(diary, seed=0)
print(found.words)
""",
    "find_memories": DIARY
    + """
found = lv.find_memories(diary, iterations=1, seed=0)
print(found)
""",
    "learn_dynamic": DIARY
    + """
learned = lv.learn_dynamic(diary, lags=2)
print(learned.network)
""",
    "fit_dynamic": DIARY
    + """
start = lv.hidden_markov(diary, states=2, seed=0).network
fitted = lv.fit_dynamic(start, diary)
print(fitted)
""",
    "hidden_markov": DIARY
    + """
chain = lv.hidden_markov(diary, states=2, seed=0)
print(chain)
print(chain.network.posterior(diary)[:3])
""",
    "latent_transitions": SURVEY
    + """
panel = {"who": list(range(100)) * 2, "wave": [1] * 100 + [2] * 100, **answers}
found = lv.latent_transitions(panel, by="who", time="wave", states=range(1, 3), starts=2, seed=0)
print(found)
""",
    "factorial_hmm": DIARY
    + """
fitted = lv.factorial_hmm(diary, chains=2, states=2, seed=0)
print(fitted)
""",
    "read_dynamic": DIARY
    + """
lv.write_dynamic(lv.hidden_markov(diary, states=2, seed=0).network, "chain.json")
print(lv.read_dynamic("chain.json"))
""",
    "write_dynamic": DIARY
    + """
lv.write_dynamic(lv.learn_dynamic(diary).network, "diary.json")
""",
}
