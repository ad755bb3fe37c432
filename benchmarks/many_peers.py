"""Which words are in a message: log-likelihood of held-out rows, ours beside topic models and groups of CorEx.

    python -m benchmarks.many_peers --data ../shared/data [--only ours "no hidden" lda …] [--draws 99]

The 99 words of news20 as yes and no, without the newsgroup: 5,000 messages to learn from, 2,505 to be foretold, one
split. Every model is one of presence and absence, and each row's probability is exact or an average over drawn weights:

ours          the network of `discover`, hidden variables and all
no hidden     the best network of the words alone, as `learn_structure` finds it
one class     latent classes behind all words, their number by BIC
corex         CorEx's groups of words, each with one class behind it, fitted by our EM (a density of its own it has not)
linearcorex   the same of linear CorEx's groups
lda           topics θ ~ Dirichlet; a word is there unless a Poisson number of it, mean length × share, is 0
nmf           a word is there with probability W H, W drawn from the weights of the rows it was learned from
apart         every word by itself

The numbers of topics and groups, lengths and how far probabilities are kept from 0 are chosen on a fifth of the 5,000,
then all are used. A package that is not there is named and passed over.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

import leverrier as lv
from benchmarks import lines

Words = NDArray[np.int64]
"""(messages, words), 0 and 1."""
Told = NDArray[np.float64]
"""By held-out row its log-probability."""
TRAIN, INNER = 5000, 4000
WEIGHTS = 20_000
SIZES = (5, 10, 20, 40)
LENGTHS = (0.5, 1.0, 2.0, 4.0)
"""Shapes of the lengths' gamma distribution."""
KEPT = (0.002, 0.005, 0.01, 0.02)


def read(data: Path) -> tuple[list[str], Words]:
    import pandas as pd

    frame = pd.read_csv(data / "news" / "news20_top99.csv.gz").drop(columns="newsgroup")
    return list(frame.columns), frame.to_numpy(dtype=np.int64)


def as_table(names: list[str], words: Words) -> lv.Table:
    return lv.Table.from_codes(dict.fromkeys(names, (0, 1)), words.T)


def with_ours(names: list[str], train: Words, test: Words, draws: int) -> tuple[Told, str]:
    found = lv.discover(as_table(names, train), draws=draws, resamples=0, jobs=1)
    network = found.result.network
    assert isinstance(network, lv.Network)
    groups = "; ".join(f"{each.states}: {' '.join(sorted(each.neighbours))}" for each in found.hidden)
    return network.row_log_likelihood(as_table(names, test)), f"{found.verdict}; {groups}"


def without(names: list[str], train: Words, test: Words) -> tuple[Told, str]:
    network = lv.learn_structure(as_table(names, train), jobs=1).network
    return network.row_log_likelihood(as_table(names, test)), f"{len(network.edges)} arcs"


def one_class(names: list[str], train: Words, test: Words) -> tuple[Told, str]:
    found = lv.latent_classes(as_table(names, train), range(4, 17, 4), starts=4, tolerance=1e-4, jobs=1)
    network = found.network
    return network.row_log_likelihood(as_table(names, test)), f"{network.cardinality('class')} classes"


def each_apart(_: list[str], train: Words, test: Words) -> tuple[Told, str]:
    share = (train.sum(axis=0) + 0.5) / (len(train) + 1)
    return _present(test, np.log(share)[None], np.log1p(-share)[None])[:, 0], ""


def _present(words: Words, yes: NDArray[np.float64], no: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, settings): log-probability of every row, of logarithms (settings, words) of yes and no."""
    return words @ (yes - no).T + no.sum(axis=1)


def _averaged(words: Words, shares: NDArray[np.float64]) -> Told:
    """Log of the average of the rows' probabilities over drawn settings."""
    shares = np.clip(shares, 1e-12, 1 - 1e-12)
    yes, no = np.log(shares), np.log1p(-shares)
    parts = [logsumexp(_present(words[i : i + 500], yes, no), axis=1) for i in range(0, len(words), 500)]
    return np.concatenate(parts) - math.log(len(shares))


def topics(size: int, train: Words) -> Callable[[float, Words], Told]:
    from sklearn.decomposition import LatentDirichletAllocation

    model: Any = LatentDirichletAllocation(size, learning_method="batch", max_iter=50, random_state=0).fit(train)
    words = model.components_ / model.components_.sum(axis=1, keepdims=True)
    share = np.random.default_rng(0).dirichlet(np.full(size, model.doc_topic_prior_), WEIGHTS) @ words
    seen = train.sum() / len(train)

    def told(shape: float, rows: Words) -> Told:
        """Lengths are gamma of this shape; their mean is such that as many words are present as in what was learned."""
        unit = np.random.default_rng(1).gamma(shape, 1 / shape, WEIGHTS)

        def shares(mean: float) -> NDArray[np.float64]:
            return -np.expm1(-mean * unit[:, None] * share)

        low, high = 0.1, 1000.0
        for _ in range(30):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if shares(middle).sum(axis=1).mean() < seen else (low, middle)
        return _averaged(rows, shares(low))

    return told


def factors(size: int, train: Words) -> Callable[[float, Words], Told]:
    from sklearn.decomposition import NMF

    make: Any = NMF
    model = make(size, init="nndsvda", max_iter=500, random_state=0)
    weights = model.fit_transform(train.astype(np.float64))

    def told(kept: float, rows: Words) -> Told:
        return _averaged(rows, np.clip(weights @ model.components_, kept, 1 - kept))

    return told


def chosen(
    make: Callable[[int, Words], Callable[[float, Words], Told]],
    settings: tuple[float, ...],
    _: list[str],
    train: Words,
    test: Words,
) -> tuple[Told, str]:
    """With the size and the setting that foretell the inner rows best."""
    tried = []
    for size in SIZES:
        told = make(size, train[:INNER])
        tried += [(float(told(each, train[INNER:]).mean()), size, each) for each in settings]
    _, size, setting = max(tried)
    return make(size, train)(setting, test), f"{size} of them, setting {setting}"


def corex_groups(size: int, train: Words) -> list[int]:
    from corextopic.corextopic import Corex  # pyright: ignore[reportMissingImports]
    from scipy.sparse import csr_matrix

    return Corex(n_hidden=size, seed=0, max_iter=200).fit(csr_matrix(train)).clusters.tolist()


def linear_groups(size: int, train: Words) -> list[int]:
    from linearcorex import Corex  # pyright: ignore[reportMissingImports]

    return Corex(n_hidden=size, seed=0, max_iter=5000).fit(train.astype(np.float64)).mis.argmax(axis=0).tolist()


def grouped(groups: Callable[[int, Words], list[int]], names: list[str], train: Words, test: Words) -> tuple[Told, str]:
    """A class of as many states as BIC likes, two to four, behind each group."""
    best: tuple[float, int] | None = None
    for size in SIZES:
        model = _stars(groups(size, train[:INNER]), names, train[:INNER])
        mean = float(model(train[INNER:]).mean())
        best = max(best or (mean, size), (mean, size))
    assert best is not None
    return _stars(groups(best[1], train), names, train)(test), f"{best[1]} groups"


def _stars(groups: list[int], names: list[str], train: Words) -> Callable[[Words], Told]:
    parts = []
    for group in sorted(set(groups)):
        members = [v for v, each in enumerate(groups) if each == group]
        own = [names[v] for v in members]
        most = min(4, 2 ** (len(own) - 1))
        fits = lv.latent_classes(as_table(own, train[:, members]), range(1, most + 1), starts=5, jobs=1)
        parts.append((own, members, fits.network))

    def told(rows: Words) -> Told:
        return np.sum([net.row_log_likelihood(as_table(own, rows[:, v])) for own, v, net in parts], axis=0)

    return told


def models(draws: int) -> dict[str, Callable[[list[str], Words, Words], tuple[Told, str]]]:
    return {
        "ours": partial(with_ours, draws=draws),
        "no hidden": without,
        "one class": one_class,
        "corex": partial(grouped, corex_groups),
        "linearcorex": partial(grouped, linear_groups),
        "lda": partial(chosen, topics, LENGTHS),
        "nmf": partial(chosen, factors, KEPT),
        "apart": each_apart,
    }


def work(asked: argparse.Namespace) -> lines.Work:
    names, words = read(asked.data)
    order = np.random.default_rng(asked.seed).permutation(len(words))
    train, test = words[order[:TRAIN]], words[order[TRAIN:]]
    for name, model in models(asked.draws).items():
        if asked.only and name not in asked.only:
            continue
        key = f"news20 {name} seed {asked.seed}" + (f" draws {asked.draws}" if name == "ours" else "")
        yield key, partial(_line, model, names, train, test)


def _line(
    model: Callable[[list[str], Words, Words], tuple[Told, str]], names: list[str], train: Words, test: Words
) -> lines.Line:
    begun = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told, says = model(names, train, test)
    except ImportError as missing:
        return {"nats a row": None, "says": f"not here: {missing.name}"}
    error = float(told.std(ddof=1) / math.sqrt(len(told)))
    seconds = round(time.process_time() - begun, 1)
    return {"nats a row": round(float(told.mean()), 4), "error": round(error, 4), "processor": seconds, "says": says}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("results/many_peers.jsonl"))
    asked = parser.parse_args()
    done = lines.run(work(asked), asked.output)
    rows = [[each["key"], each["nats a row"], each.get("error"), each.get("processor")] for each in done]
    lines.table(["", "nats a row", "standard error", "processor s"], rows)


if __name__ == "__main__":
    main()
