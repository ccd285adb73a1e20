"""Six tables as people have them: share of right pairs, verdict and CPU time, with and without common columns.

python3 dev.py bench tables                    the tables; --explain also prints what was done with each column
python3 dev.py bench tables encoders           how columns are encoded: ours, other ways to fill gaps in, skrub
python3 dev.py bench tables --seed 7           other draws (what was chosen was chosen on seeds from 100 on)

"none" has the common columns in both tables as columns like others, "auto" compares them directly; with --all,
"without" leaves them out. Wine is scikit-learn's. The penguins are drawn from normal distributions of three species,
they are not the real ones. The others are drawn too: hidden properties of an object show in the columns of both tables.
"""

import csv
import datetime
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pairup
from pairup.linkage import pair_tables
from pairup.tables import read_table

CITIES = ("Berlin", "Hamburg", "München", "Köln", "Bonn", "Leipzig", "Dresden", "Ulm", "Kiel", "Mainz")
GOODS = {
    "garden": ("spade", "seeds of tomatoes", "watering can", "rake", "flower pots"),
    "kitchen": ("frying pan", "set of knives", "coffee maker", "wooden spoons", "baking tin"),
    "office": ("printer paper", "desk lamp", "fountain pen", "ring binders", "office chair"),
    "sport": ("running shoes", "tennis balls", "yoga mat", "bicycle helmet", "dumbbells"),
}
INTERESTS = {
    "garden": ("grows vegetables", "loves roses", "has an allotment"),
    "kitchen": ("cooks for friends", "bakes bread", "collects recipes"),
    "office": ("works from home", "keeps the books", "writes letters"),
    "sport": ("runs marathons", "plays tennis", "cycles to work"),
}
Rows = list[dict[str, Any]]


def draw_customers(seed: int, n: int = 120) -> tuple[Rows, Rows]:
    """Customers and their largest orders: text, categories, dates, truth values and gaps; city and age in both."""
    rng = np.random.default_rng(seed)
    customers, orders = [], []
    for i in range(n):
        kind = str(rng.choice(list(GOODS)))
        income = float(rng.lognormal(10.4, 0.5))
        age = int(rng.integers(18, 85))
        since = datetime.date(2015, 1, 1) + datetime.timedelta(days=int(rng.integers(3000)))
        city = str(rng.choice(CITIES))
        spent = income * 0.01 * float(rng.lognormal(0, 0.1))
        first = since + datetime.timedelta(days=int(rng.integers(1, 20)))
        customers.append({
            "customer": f"C{i:03d}", "city": city, "age": age, "income": round(income, 2), "since": since.isoformat(),
            "newsletter": "yes" if kind in ("garden", "sport") else "no", "about": str(rng.choice(INTERESTS[kind])),
        })  # fmt: skip
        orders.append({
            "order": f"O-{rng.integers(10**6):06d}-{i}", "city": city, "age": age + int(rng.integers(-1, 2)),
            "total": round(spent, 2), "first_order": first.isoformat(), "goods": str(rng.choice(GOODS[kind])),
            "department": kind, "express": bool(age < 45),
        })  # fmt: skip
    for rows in (customers, orders):
        for row in rows:
            for name in row:
                if name not in ("customer", "order") and rng.random() < 0.04:
                    row[name] = ""
    return customers, orders


def draw_wine(seed: int) -> tuple[Rows, Rows]:
    """Wine of scikit-learn, 178 bottles: six measurements in each table; cultivar and colour in both."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    rng = np.random.default_rng(seed)
    names = [name.replace("/", " ") for name in wine.feature_names]
    left, right = list(range(0, 13, 2)), list(range(1, 13, 2))
    colour = names.index("color_intensity")
    left.remove(colour) if colour in left else right.remove(colour)
    cultivar = [f"cultivar {k}" for k in wine.target]
    tables = []
    for columns in (left, right):
        noise = rng.normal(scale=0.05, size=len(wine.data))
        tables.append([
            {names[k]: float(wine.data[i, k]) for k in columns}
            | {"cultivar": cultivar[i], "color_intensity": round(float(wine.data[i, colour] + noise[i]), 2)}
            for i in range(len(wine.data))
        ])  # fmt: skip
    return tables[0], tables[1]


def draw_penguins(seed: int, n: int = 150) -> tuple[Rows, Rows]:
    """Penguin-like birds of three species: bill in one table, flipper and mass in the other; island and sex in both."""
    rng = np.random.default_rng(seed)
    species = {  # rough sizes of bill length, bill depth, flipper (mm) and mass (g), and where they live
        "Adelie": ((38.8, 18.3, 190, 3700), ("Torgersen", "Biscoe", "Dream")),
        "Chinstrap": ((48.8, 18.4, 196, 3730), ("Dream",)),
        "Gentoo": ((47.5, 15.0, 217, 5080), ("Biscoe",)),
    }
    spread = np.array([2.7, 1.1, 6.5, 420.0])
    left, right = [], []
    for i in range(n):
        kind = str(rng.choice(list(species), p=(0.44, 0.2, 0.36)))
        male = rng.random() < 0.5
        size = rng.normal() + (0.9 if male else -0.9)
        mean, islands = species[kind]
        bill, depth, flipper, mass = np.array(mean) + spread * (0.75 * size + 0.5 * rng.normal(size=4))
        island = str(rng.choice(islands))
        sex = "male" if male else "female"
        left.append({
            "ring": f"R{i:04d}", "island": island, "sex": sex, "bill_length": round(bill, 1),
            "bill_depth": round(depth, 1), "species": kind,
        })  # fmt: skip
        right.append({
            "bird": i, "island": island, "sex": sex, "flipper": round(flipper), "mass": round(mass / 25) * 25,
            "nest": str(rng.choice(("stones", "sand") if kind == "Gentoo" else ("stones", "rock"))),
        })  # fmt: skip
    return left, right


def draw_people(seed: int, n: int = 100) -> tuple[Rows, Rows]:
    """Staff in two registers: birth date, town and a misspelt name in both, pay and office in one each."""
    rng = np.random.default_rng(seed)
    first = ("Anna", "Bernd", "Clara", "David", "Eva", "Frank", "Greta", "Hans", "Ida", "Jonas", "Karin", "Lars")
    last = ("Meyer", "Schulz", "Fischer", "Weber", "Wagner", "Becker", "Hoffmann", "Koch", "Richter", "Klein", "Wolf")
    left, right = [], []
    for i in range(n):
        name = f"{rng.choice(first)} {rng.choice(last)}"
        born = datetime.date(1955, 1, 1) + datetime.timedelta(days=int(rng.integers(16000)))
        town = str(rng.choice(CITIES[:6]))
        rank = rng.gamma(2.0)
        place = int(rng.integers(1, len(name) - 1))
        misspelt = name[:place] + name[place + 1 :] if rng.random() < 0.3 else name
        left.append({
            "staff_id": 1000 + i, "name": name, "born": born.isoformat(), "town": town,
            "pay": round(2000 + 900 * rank + 30 * rng.normal()), "years": round(abs(3 * rank + rng.normal()), 1),
        })  # fmt: skip
        right.append({
            "badge": f"B{rng.integers(10**5):05d}", "name": misspelt,
            "born": born.isoformat() if rng.random() < 0.9 else "",
            "town": town, "office_size": round(10 + 5 * rank + 0.3 * rng.normal(), 1), "desk": round(rng.normal(), 2),
        })  # fmt: skip
    return left, right


def draw_german(seed: int, n: int = 100) -> tuple[Rows, Rows]:
    """Shops and their books as German Excel writes them: semicolons, decimal commas, Windows-1252."""
    rng = np.random.default_rng(seed)
    left, right = [], []

    def german(value: float) -> str:
        return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")

    for i in range(n):
        size = float(rng.gamma(2.0, 200.0)) + 50
        opened = datetime.date(2001, 1, 1) + datetime.timedelta(days=int(rng.integers(8000)))
        town = str(rng.choice(CITIES))
        left.append({
            "Filiale": f"F{i:03d}", "Ort": town, "Fläche": german(size), "Eröffnung": opened.strftime("%d.%m.%Y"),
            "Parkplätze": round(size / 20 + abs(rng.normal())), "Café": "ja" if size > 400 else "nein",
        })  # fmt: skip
        right.append({
            "Konto": f"{4000 + i}", "Ort": town, "Umsatz": german(size * 5200 * rng.lognormal(0, 0.05)),
            "Erste Buchung": (opened + datetime.timedelta(days=int(rng.integers(30)))).strftime("%d.%m.%Y"),
            "Fläche": german(size * rng.lognormal(0, 0.02)), "Löhne": german(size * 900 * rng.lognormal(0, 0.1)),
        })  # fmt: skip
    return left, right


def draw_gaps(seed: int, n: int = 120) -> tuple[Rows, Rows]:
    """Patients in two studies, 30 % of all cells missing; age and blood group in both."""
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 3))
    A, B = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    left, right = [], []
    for i in range(n):
        age, group = int(rng.integers(20, 90)), str(rng.choice(("A", "B", "AB", "0"), p=(0.43, 0.11, 0.05, 0.41)))
        common = {"age": age, "blood": group}
        left.append(
            common | {f"lab_{k}": round(float(v), 3) for k, v in enumerate(Z[i] @ A + 0.05 * rng.normal(size=5))}
        )
        right.append(common | {f"scan_{k}": round(float(v), 3) for k, v in enumerate(np.tanh(Z[i] @ B / 4))})
    for rows in (left, right):
        for row in rows:
            for name in row:
                if rng.random() < 0.3:
                    row[name] = ""
    return left, right


def draw_days(seed: int, n: int = 90) -> tuple[Rows, Rows]:
    """Days of a weather station, which are the ids of one table, beside meter readings; the rain is in both."""
    rng = np.random.default_rng(seed)
    left, right = [], []
    for i in range(n):
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=i)
        warm = 12 + 9 * np.sin(i / 15) + 3 * rng.normal()
        wind, rain = float(rng.gamma(2.0, 6.0)), round(float(rng.gamma(0.6, 4.0)), 1)
        left.append({
            "day": day.isoformat(), "temperature": round(warm, 1), "wind": round(wind, 1), "rain": rain,
            "sky": "clear" if rain < 0.5 else "cloudy" if rain < 3 else "wet",
        })  # fmt: skip
        right.append({
            "reading": f"M{rng.integers(10**6):06d}", "heating": round(max(0.0, 20 - warm) * 3 + rng.normal(), 1),
            "turbine": round(wind**1.5 + rng.normal(), 1), "rain": round(rain + 0.1 * rng.normal(), 1),
        })  # fmt: skip
    return left, right


TABLES: dict[str, Callable[[int], tuple[Rows, Rows]]] = {
    "customers": draw_customers,
    "wine": draw_wine,
    "penguins": draw_penguins,
    "people": draw_people,
    "german": draw_german,
    "gaps": draw_gaps,
    "days": draw_days,
}


def write_rows(path: Path, rows: Rows, *, german: bool = False) -> None:
    with path.open("w", newline="", encoding="cp1252" if german else "utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";" if german else ",")
        writer.writeheader()
        writer.writerows(rows)


def write_pair(name: str, seed: int, folder: Path) -> tuple[Path, Path, np.ndarray]:
    """Write two tables, the second shuffled, and return their paths and the true partners."""
    left, right = TABLES[name](seed)
    order = np.random.default_rng(seed + 1).permutation(len(right))
    paths = folder / f"{name}-x.csv", folder / f"{name}-y.csv"
    write_rows(paths[0], left, german=name == "german")
    write_rows(paths[1], [right[k] for k in order], german=name == "german")
    return *paths, np.argsort(order)


def compare_encoders(seeds: range) -> None:
    """Print how dependent the true pairs are under each way to encode columns, in units of shuffled pairs' spread."""
    print("HSIC of the true pairs, in standard deviations above shuffled pairs; mean over seeds, and CPU ms per table")
    names = list(ENCODERS)
    print(f"{'table':<10} " + " ".join(f"{name:>14}" for name in names))
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            scores: dict[str, list[float]] = {each: [] for each in names}
            spent = dict.fromkeys(names, 0.0)
            for seed in seeds:
                x, y, truth = write_pair(name, seed, Path(folder))
                tables = read_table(x), read_table(y)
                common = pair_tables(*tables).common
                tables = tuple(t.revise(drop=[*common]) if len(t.columns) > len(common) + 1 else t for t in tables)
                for each, encode in ENCODERS.items():
                    start = time.process_time()
                    X, Y = (encode(table) for table in tables)
                    spent[each] += time.process_time() - start
                    scores[each].append(excess(X, Y[truth], seed))
            cells = " ".join(f"{np.mean(scores[k]):>8.1f} {500 * spent[k] / len(seeds):>4.0f}ms" for k in names)
            print(f"{name:<10} {cells}", flush=True)


def excess(X: np.ndarray, Y: np.ndarray, seed: int) -> float:
    """Return the HSIC of paired tables above that of 200 shuffles, in their standard deviations."""
    from pairup.kernels import center, gaussian, median_width

    K, L = (center(gaussian(Z, width=median_width(Z))) for Z in (X, Y))
    rng = np.random.default_rng(seed)
    shuffled = [float((K * L[np.ix_(p, p)]).sum()) for p in (rng.permutation(len(K)) for _ in range(200))]
    return (float((K * L).sum()) - np.mean(shuffled)) / np.std(shuffled)


def encode_by_skrub(table: Any) -> np.ndarray:
    """Encode a table by skrub's TableVectorizer, gaps filled in by the mean, columns standardized."""
    import pandas as pd
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skrub import TableVectorizer

    frame = pd.DataFrame({
        c.name: c.values if c.kind != "date" else pd.to_datetime(c.values, unit="D")
        for c in table.columns
        if c.kind not in ("id", "empty", "constant") and c.name not in table.dropped
    })  # fmt: skip
    return make_pipeline(TableVectorizer(), SimpleImputer(), StandardScaler()).fit_transform(frame)


def encode_with(fill: str) -> Callable[[Any], np.ndarray]:
    """Return our own encoding with another way to fill gaps in."""

    def encode(table: Any) -> np.ndarray:
        from sklearn.impute import SimpleImputer

        from pairup import encoding

        kept = encoding.fill_in
        if fill != "neighbours":
            encoding.fill_in = SimpleImputer(add_indicator=fill == "marked").fit_transform
        try:
            return table.values
        finally:
            encoding.fill_in = kept

    return encode


ENCODERS: dict[str, Callable[[Any], np.ndarray]] = {
    "ours": encode_with("neighbours"),
    "mean": encode_with("mean"),
    "mean + marks": encode_with("marked"),
    "skrub": encode_by_skrub,
}


def main() -> None:
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 0
    if "encoders" in sys.argv:
        compare_encoders(range(100, 105))
        return
    print(f"{'table':<10} {'common':<7} {'right':>6} {'claimed':>8} {'verdict':<13} {'CPU s':>6}  compared directly")
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            x, y, truth = write_pair(name, seed, Path(folder))
            tables = read_table(x), read_table(y)
            if "--explain" in sys.argv:
                print(pair_tables(*tables))
            for on in ("without", "none", "auto") if "--all" in sys.argv else ("none", "auto"):
                start = time.process_time()
                pair = pair_tables(*tables)
                shown = [t.revise(drop=[*pair.common]) for t in tables] if on == "without" else tables
                m = pairup.match(*shown, on="auto" if on == "auto" else "none")
                spent = time.process_time() - start
                right = float((m.indices == truth).mean())
                verdict = "reliable" if m.reliable else "not reliable"
                print(
                    f"{name:<10} {on:<7} {right:>6.2f} {m.reliability:>8.2f} {verdict:<13} {spent:>6.1f}  "
                    f"{', '.join(pair.common) if on == 'auto' else ''}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
