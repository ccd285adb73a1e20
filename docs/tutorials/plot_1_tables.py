"""
Two tables: which shop is which?
================================

You took over a chain of shops. The leases are in one file, the accounts in another, and nobody wrote down which
account belongs to which shop. The two files have no common key. At the end of this page you know which pairs
you can book, and which a person should look at.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pairup
from pairup.linkage import pair_tables
from pairup.tables import read_table

# %%
# The data
# --------
# Two csv files as people have them: semicolons, decimal commas, dates, gaps. They are made here, so that we can
# count the right pairs afterwards; with your own data you would begin at the next heading.

rng = np.random.default_rng(0)
n = 90
area, street = (
    rng.gamma(3.0, 60.0, n),
    rng.gamma(2.0, 1.0, n),
)  # square metres; how busy the street is
days = rng.gamma(2.0, 900.0, n).round()  # since the shop opened
today = pd.Timestamp("2024-01-01")
leases = pd.DataFrame(
    {
        "shop": [f"S{k:03d}" for k in range(n)],
        "area": area.round(),
        "rent": (area * (8 + 3 * street) * rng.normal(1, 0.02, n)).round(2),
        "signed": (today - pd.to_timedelta(days, unit="D")).strftime("%d.%m.%Y"),
    }
)
accounts = pd.DataFrame(
    {
        "account": 7000 + 3 * rng.permutation(n),
        "turnover": (area**0.9 * (20 + 30 * street) * rng.normal(1, 0.02, n)).round(
            2
        ),
        "electricity": (area * 1.9 * rng.normal(1, 0.02, n)).round(1),
        "staff": np.maximum(1, np.round(area / 40 + 2 * street)).astype(int),
        "first_entry": (
            today - pd.to_timedelta(days - rng.integers(5, 40, n), unit="D")
        ).strftime("%d.%m.%Y"),
    }
)
accounts.loc[rng.choice(n, 8, replace=False), "electricity"] = None
shuffled = accounts.sample(frac=1, random_state=1)
truth = np.argsort(shuffled.index)  # for counting only

folder = Path(tempfile.mkdtemp())
leases.to_csv(folder / "leases.csv", sep=";", decimal=",", index=False)
shuffled.to_csv(folder / "accounts.csv", sep=";", decimal=",", index=False)
print((folder / "accounts.csv").read_text()[:240])

# %%
# What was read
# -------------
# Look at this before anything else. On the command line it is ``pairup match leases.csv accounts.csv
# --explain``.

x, y = read_table(folder / "leases.csv"), read_table(folder / "accounts.csv")
print(str(pair_tables(x, y)).replace(f"{folder}/", ""))

# %%
# One thing is wrong: the account number is taken for a number like others, and would be compared. It is a name.
# Say so; ``kinds={…}`` and ``drop=[…]`` repair other columns (``--id-column``, ``--kind`` and ``--drop``). A
# column of which the other file can know nothing only adds noise: drop it.

y = y.revise(id_column="account")

# %%
# The matching and its verdict
# ----------------------------

matching = pairup.match(x, y)
print(matching.report)

# %%
# The first line is the one to act on: how many pairs are expected to be right. It is an estimate, made without
# knowing the truth; :doc:`/guide/verdict` explains the others.
#
# Which pairs to believe
# ----------------------
# Each pair has a probability. Sort by it, and decide where to draw the line: a wrong booking costs more than a
# look into the files, so we take 0.9.

pairs = matching.to_frame()
sure = pairs[pairs["confidence"] >= 0.9]
print(pairs.sort_values("confidence").head(5).to_string(index=False))
print(f"{len(sure)} of {n} pairs have a probability of at least 0.9")

# %%
# Check some by hand
# ------------------
# Draw ten pairs at random and look them up: ask the shop, open the lease. We have the truth, so this is what
# you would have found.

drawn = sure.sample(10, random_state=0)
right = matching.indices == truth
print(f"of ten pairs looked up, {int(right[drawn.index].sum())} are right")
print(
    f"(of all {len(sure)} sure pairs, {int(right[sure.index].sum())}; of the others, "
    f"{int(right[pairs.index.difference(sure.index)].sum())} of {n - len(sure)})"
)

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
bins = np.linspace(0, 1, 21)
ax.hist(
    [pairs["confidence"][right], pairs["confidence"][~right]],
    bins,
    stacked=True,
    color=["#b8005f", "0.6"],
    label=["right", "wrong"],
)
ax.axvline(0.9, color="#222222", linestyle="--", linewidth=1)
ax.set(
    xlabel="probability",
    ylabel="pairs",
    title="booked automatically to the right of the line",
)
ax.legend(loc="upper left")
figure.show()

# %%
# The decision
# ------------
# Book the pairs above 0.9. Hand the others to a person, each with its three likeliest partners. What that
# person confirms goes back as known pairs (``anchors=``), and the rest is matched again.

partners, chances = matching.candidates(3)
unsure = np.flatnonzero(matching.confidence < 0.9)[:3]
for k in unsure:
    options = ", ".join(
        f"{matching.names[1][j]} ({p:.0%})"
        for j, p in zip(partners[k], chances[k], strict=True)
    )
    print(f"{matching.names[0][k]}: {options}")
