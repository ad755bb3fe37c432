"""The real tables that stand for the sources' own, cut into a training and a test part."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import leverrier as lv

TICKERS = "stocks/tickers.csv"
STOCKS = (TICKERS, "stocks/trends_1pct_1992_1999.csv.gz")
"""Up, down, and no change for a move within 1 %."""
NHEFS = ("epidemiology/nhefs.csv",)
TB = ("epidemiology/tb_maryland.csv",)
NEWS = ("news/news20_top99.csv.gz",)
FILES = {"stocks": STOCKS, "nhefs": NHEFS, "tb_maryland": TB, "news": NEWS}
STAND_INS = (
    "Stocks: 20 technology stocks over 1,516 days, another list than the source's; no change is a move within 1 % (the "
    "source's cut is not published, and exact equality is rare). Its tuberculosis patients are not public: NHEFS "
    "(1,629 people, 35 columns) and Maryland's (389 patients, 5 columns) stand for them."
)
DAYS = 1516
"""[elidan2000 section 4]."""
NEWS_TRAINING = 5000
"""[elidan2001 section 5]."""
PEOPLE = (
    "sex",
    "race",
    "age",
    "income",
    "marital",
    "education",
    "smokeintensity",
    "smokeyrs",
    "asthma",
    "bronch",
    "tb",
    "hf",
    "hbp",
    "pepticulcer",
    "colitis",
    "hepatitis",
    "chroniccough",
    "hayfever",
    "diabetes",
    "tumor",
    "nervousbreak",
    "alcoholfreq",
    "headache",
    "otherpain",
    "weakheart",
    "allergies",
    "nerves",
    "lackpep",
    "boweltrouble",
    "wtloss",
    "infection",
    "active",
    "exercise",
    "death",
    "qsmk",
)
PATIENTS = ("sex", "race", "spsmear", "hivstatus", "homeless")
"""Without the county (31 of them for 389 patients)."""


def tickers(data: Path, group: str) -> list[str]:
    """The stocks of a group: `tech20` or `mixed20`."""
    with open(data / TICKERS, encoding="utf-8", newline="") as file:
        return [row["ticker"] for row in csv.DictReader(file) if row[group] == "1"]


def stocks(data: Path) -> lv.Table:
    """Up, same and down of 20 technology stocks over 1516 trading days."""
    table = lv.read_table(data / STOCKS[1], ignore=["sequence", "time", "date"]).select(tickers(data, "tech20"))
    return table.take(np.arange(table.n_rows - DAYS, table.n_rows))


def table_of(name: str, data: Path) -> lv.Table:
    """One of the real tables by name."""
    if name == "stocks":
        return stocks(data)
    if name == "nhefs":
        return lv.read_table(data / NHEFS[0], types={"income": "number"}, bins=4).select(PEOPLE)
    if name == "tb_maryland":
        return lv.read_table(data / TB[0]).select(PATIENTS)
    return lv.read_table(data / NEWS[0])


def split(table: lv.Table, seed: int, training: int | None = None) -> tuple[lv.Table, lv.Table]:
    """Training and test rows, at random: two thirds, or so many, for training."""
    order = np.random.default_rng([seed, 53]).permutation(table.n_rows)
    first = training or (2 * table.n_rows) // 3
    return table.take(np.sort(order[:first])), table.take(np.sort(order[first:]))
