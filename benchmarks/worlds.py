"""Whole worlds as people have them, complete and with one column taken out: `python -m benchmarks.worlds --tables 3`.

Each world is a mixed table (numbers, counts, grades, yes/no, categories) made by mechanisms written from its subject,
not from our families. Complete, nothing is hidden in it. Taken out is one column of few states that acts on at least
four others, so that a hidden class is there to be found; its strength is what the subject suggests.
Prints each verdict as it comes (and appends it to --out), then false and true ones by world.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import leverrier as lv

Rng = np.random.Generator
World = Callable[[Rng, int], pd.DataFrame]


def _yes(r: Rng, log_odds: np.ndarray) -> np.ndarray:
    return np.where(r.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)), "yes", "no")


def ward(r: Rng, n: int) -> pd.DataFrame:
    """Patients: age and sex act on most; the diagnosis on pulse, fever, oxygen, days and treatment."""
    age = np.clip(r.gamma(9, 7, n), 18, 99).round()
    sex = r.choice(["f", "m"], n)
    illness = r.choice(["pneumonia", "heart failure", "fracture"], n, p=[0.35, 0.3, 0.35])
    lung, heart = illness == "pneumonia", illness == "heart failure"
    fever = 36.7 + 1.4 * lung * r.beta(4, 2, n) + r.normal(0, 0.3, n)
    oxygen = np.minimum(99, 97 - 4.5 * lung - 2.5 * heart - 0.03 * (age - 50) + r.normal(0, 1.5, n)).round()
    pulse = 74 + 9 * (fever - 36.7) + 10 * heart + r.gamma(2, 4, n)
    days = r.poisson(2 + 2.5 * lung + 4 * heart + 0.04 * age)
    swelling = _yes(r, -3 + 3.2 * heart + 0.02 * (age - 60))
    drip = _yes(r, -2 + 2.5 * lung + 0.8 * (oxygen < 92))
    return pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "illness": illness,
            "fever": fever.round(1),
            "oxygen": oxygen,
            "pulse": pulse.round(),
            "days": days,
            "swelling": swelling,
            "drip": drip,
        }
    )


def shop(r: Rng, n: int) -> pd.DataFrame:
    """Orders: kind of customer acts on basket, hour, channel, returns; totals are products."""
    kind = r.choice(["bargain", "regular", "firm"], n, p=[0.4, 0.4, 0.2])
    firm, bargain = kind == "firm", kind == "bargain"
    items = 1 + r.negative_binomial(2, np.where(firm, 0.15, np.where(bargain, 0.5, 0.4)))
    price = np.exp(r.normal(np.where(bargain, 2.0, 2.9), 0.45))
    discount = np.where(
        bargain, r.choice([0, 10, 20, 30], n, p=[0.1, 0.2, 0.4, 0.3]), r.choice([0, 10], n, p=[0.8, 0.2])
    )
    hour = np.clip(np.where(firm, r.normal(11, 2, n), r.normal(18, 3.5, n)), 0, 23).round()
    channel = np.where(firm, r.choice(["desk", "phone"], n), r.choice(["desk", "phone"], n, p=[0.25, 0.75]))
    total = (items * price * (1 - discount / 100)).round(2)
    returned = _yes(r, -2.2 + 1.1 * bargain + 0.02 * items)
    columns = {"kind": kind, "items": items, "price": price.round(2), "discount": discount.astype(str), "hour": hour}
    return pd.DataFrame({**columns, "channel": channel, "total": total, "returned": returned})


def plant(r: Rng, n: int) -> pd.DataFrame:
    """A pump: its mode acts on flow, pressure, vibration, current; temperature saturates; an alarm is a rule. The flow
    tells the mode in every row, so that nothing is hidden without it either."""
    mode = r.choice(["idle", "run", "boost"], n, p=[0.3, 0.5, 0.2])
    speed = np.select([mode == "idle", mode == "run"], [600, 1450], 2100)
    outside = r.normal(15, 8, n)
    flow = 0.03 * speed * r.lognormal(0, 0.06, n)
    pressure = 1 + (flow / 30) ** 2 * r.lognormal(0, 0.05, n)
    current = 2 + 0.004 * speed + 0.9 * pressure + r.standard_t(4, n) * 0.3
    oil = 30 + 45 * np.tanh(current / 14) + 0.3 * outside + r.normal(0, 1.5, n)
    vibration = np.exp(-1 + 0.0006 * speed + r.normal(0, 0.3, n))
    alarm = np.where((oil > 68) | (vibration > 1.6), "on", "off")
    return pd.DataFrame(
        {
            "mode": mode,
            "outside": outside,
            "flow": flow,
            "pressure": pressure,
            "current": current,
            "oil": oil,
            "vibration": vibration,
            "alarm": alarm,
        }
    )


def school(r: Rng, n: int) -> pd.DataFrame:
    """Pupils: the track acts on five marks, hours and plans; marks are rounded to grades."""
    track = r.choice(["languages", "sciences"], n)
    tongue = track == "languages"
    home = r.integers(1, 6, n)
    hours = np.clip(r.normal(6 + home, 2.5), 0, None)
    base = 0.25 * (hours - 9) + 0.15 * (home - 3)

    def mark(lift: np.ndarray, spread: float) -> np.ndarray:
        return np.clip(np.round(3 + base + lift + r.normal(0, spread, n)), 1, 6).astype(int)

    return pd.DataFrame(
        {
            "track": track,
            "home": home,
            "hours": hours.round(1),
            "maths": mark(1.1 * ~tongue, 0.9),
            "physics": mark(1.2 * ~tongue, 1.0),
            "english": mark(1.0 * tongue, 0.9),
            "french": mark(1.3 * tongue, 1.0),
            "history": mark(0.6 * tongue, 1.0),
            "plans": np.where(r.random(n) < np.where(tongue, 0.2, 0.6), "engineer", "other"),
        }
    )


def homes(r: Rng, n: int) -> pd.DataFrame:
    """Houses for sale: the district acts on age, area, noise, price, garden, days on the market."""
    district = r.choice(["old town", "suburb", "new quarter"], n, p=[0.3, 0.45, 0.25])
    old, suburb = district == "old town", district == "suburb"
    age = np.where(old, r.gamma(8, 12, n), np.where(suburb, r.gamma(4, 9, n), r.gamma(2, 3, n))).round()
    area = np.exp(r.normal(np.where(suburb, 4.8, 4.3), 0.25)).round()
    rooms = np.maximum(1, np.round(area / 28 + r.normal(0, 0.6, n))).astype(int)
    garden = _yes(r, -2 + 3 * suburb + 0.01 * (area - 90))
    noise = np.clip(r.normal(np.where(old, 62, np.where(suburb, 50, 56)), 4), 35, 80).round()
    price = np.exp(4 + 0.95 * np.log(area) - 0.003 * age + 0.25 * old + 0.1 * (garden == "yes") + r.normal(0, 0.13, n))
    market = r.geometric(1 / (20 + 0.02 * price))
    columns = {"district": district, "age": age, "area": area, "rooms": rooms, "garden": garden, "noise": noise}
    return pd.DataFrame({**columns, "price": price.round(), "days": market})


def meadow(r: Rng, n: int) -> pd.DataFrame:
    """Plots: wet or dry acts on counts of four plants, soil and insects; counts have zeros beyond Poisson."""
    wet = r.choice(["wet", "dry"], n, p=[0.45, 0.55])
    w = wet == "wet"
    height = r.gamma(3, 150, n).round()
    ph = np.clip(r.normal(np.where(w, 5.4, 6.6), 0.5), 3.5, 8.5).round(1)

    def count(mean: np.ndarray, absent: float) -> np.ndarray:
        return np.where(r.random(n) < absent, 0, r.negative_binomial(3, 3 / (3 + mean)))

    sedge, rush = count(np.where(w, 9, 1.5), 0.2), count(np.where(w, 6, 0.8), 0.3)
    thyme = count(np.where(w, 0.7, 7) * np.exp(-height / 2000), 0.25)
    clover = count(3 + 2 * (ph > 6), 0.1)
    bees = r.poisson(0.5 + 0.4 * thyme + 0.3 * clover)
    grazed = _yes(r, 0.5 - 0.002 * height)
    columns = {"wet": wet, "height": height, "ph": ph, "sedge": sedge, "rush": rush, "thyme": thyme}
    return pd.DataFrame({**columns, "clover": clover, "bees": bees, "grazed": grazed})


def driver(r: Rng, n: int) -> pd.DataFrame:
    """Motor insurance in grades: style of driving acts on claims, speed tickets, car, kilometres, brakes."""
    style = r.choice(["calm", "sporty"], n, p=[0.65, 0.35])
    s = style == "sporty"
    age = r.choice(["18-25", "26-45", "46-65", "66+"], n, p=[0.15, 0.4, 0.3, 0.15])
    young = age == "18-25"
    car = np.where(
        s,
        r.choice(["small", "family", "sports"], n, p=[0.3, 0.25, 0.45]),
        r.choice(["small", "family", "sports"], n, p=[0.45, 0.5, 0.05]),
    )
    tickets = np.minimum(r.poisson(0.25 + 1.2 * s + 0.3 * young), 4).astype(str)
    claims = np.minimum(r.poisson(0.15 + 0.55 * s + 0.25 * young), 3).astype(str)
    brakes = np.where(r.random(n) < np.where(s, 0.65, 0.2), "worn", "good")
    night = np.where(r.random(n) < np.where(s, 0.55, 0.2), "often", "seldom")
    garage = _yes(r, 0.6 * (car == "sports") - 0.2)
    columns = {"style": style, "age": age, "car": car, "tickets": tickets, "claims": claims}
    return pd.DataFrame({**columns, "brakes": brakes, "night": night, "garage": garage})


def bakery(r: Rng, n: int) -> pd.DataFrame:
    """Batches of bread: which oven acts on crust, volume, moisture, time and rejects; weights and ratios beside."""
    oven = r.choice(["A", "B"], n)
    b = oven == "B"
    flour = r.normal(50, 3, n)
    water = flour * r.normal(0.66, 0.02, n)
    salt = 0.02 * flour * r.normal(1, 0.03, n)
    dough = flour + water + salt
    heat = r.normal(np.where(b, 238, 226), 4)
    crust = 4 + 0.12 * (heat - 230) + r.normal(0, 0.6, n)
    moisture = 42 - 0.25 * (heat - 230) + 20 * (water / flour - 0.66) + r.normal(0, 1, n)
    volume = dough * (4 + 0.3 * b) * r.normal(1, 0.04, n)
    minutes = np.round(32 - 2.5 * b + r.normal(0, 1, n))
    rejects = r.binomial(20, np.where(b, 0.12, 0.04))
    columns = {"oven": oven, "flour": flour, "water": water, "salt": salt, "dough": dough, "heat": heat, "crust": crust}
    return pd.DataFrame({**columns, "moisture": moisture, "volume": volume, "minutes": minutes, "rejects": rejects})


WORLDS: dict[str, tuple[World, str]] = {
    "ward": (ward, "illness"),
    "shop": (shop, "kind"),
    "plant": (plant, "mode"),
    "school": (school, "track"),
    "homes": (homes, "district"),
    "meadow": (meadow, "wet"),
    "driver": (driver, "style"),
    "bakery": (bakery, "oven"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2, help="of each world, complete and without the column")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--worlds", default=",".join(WORLDS))
    parser.add_argument("--out", type=Path, help="append a line of JSON a verdict; those in it are not made again")
    asked = parser.parse_args()
    known = _known(asked.out)
    for name in asked.worlds.split(","):
        for seed in range(asked.first, asked.first + asked.tables):
            for taken in ("", WORLDS[name][1]):
                key = (name, seed, asked.rows, taken)
                if key not in known:
                    known[key] = _judged(*key)
                    print(name, seed, f"without {taken}" if taken else "complete", known[key], flush=True)
                    if asked.out is not None:
                        with asked.out.open("a") as file:
                            file.write(json.dumps([*key, known[key]]) + "\n")
    for title, wanted in (("complete", False), ("one column taken out", True)):
        told = [answer["verdict"] for key, answer in known.items() if bool(key[3]) is wanted]
        print(f"{title}: " + ", ".join(f"{told.count(each)} {each}" for each in sorted(set(told))))


def _known(path: Path | None) -> dict[tuple[str, int, int, str], dict]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(name, seed, rows, taken): answer for name, seed, rows, taken, answer in lines}


def _judged(name: str, seed: int, rows: int, taken: str) -> dict:
    world = WORLDS[name][0](np.random.default_rng([seed, 4242]), rows)
    table = world.drop(columns=taken) if taken else world
    begun = time.process_time()
    found = lv.discover(table, seed=0, jobs=1)
    answer = {
        "verdict": str(found.verdict),
        "reason": found.verdict.reason.name,
        "gains": [round(each.gain, 1) for each in found.hidden],
        "kinds": [str(each.kind) for each in found.hidden],
        "states": [each.states for each in found.hidden],
        "seconds": round(time.process_time() - begun, 1),
    }
    if taken and str(found.verdict) == "found" and found.hidden[0].states:
        from sklearn.metrics import adjusted_rand_score

        states = found.posterior(table).to_numpy().argmax(axis=1)
        answer["rand"] = round(float(adjusted_rand_score(world[taken], states)), 2)
    return answer


if __name__ == "__main__":
    main()
