"""Fit how likely pairs are by common columns, alone and beside a search; prints constants of pairup/auto/schedule.py.

    python3 dev.py bench common_columns [--sets 120] [--small 60] [--alone 300]

The sets are drawn: the relations of `relations`, and common columns of all kinds. How closely right pairs agree in a
column is drawn, too: numbers and dates measured twice, categories that change, names that are misspelt, gaps, and
columns that mean something else in the other table. How far the fit carries over is measured by leaving out one kind of
relation at a time.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from calibration import FEWEST, Example, fit
from relations import RELATIONS

from pairup.auto import Answer, Problem, prior_calibration, solve
from pairup.columns import Column, make_column
from pairup.linkage import score_column

SIZES = (20, 30, 40, 60, 80, 100)
SMALL = (6, 8, 12)
KINDS = ("number", "category", "date", "text")
NOISES = (0.0, 0.05, 0.2, 0.5)  # of the relation, in spreads of a column
BLURS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of a common number or date, in its spreads
CHANGES = (0.0, 0.02, 0.1, 0.3)  # share of categories and names that differ
GAPS = (0.0, 0.0, 0.05, 0.3)
FALSE = 0.12  # share of common columns that mean something else in the other table
SYLLABLES = ("ma", "ri", "lo", "ken", "dor", "sa", "vi", "tel", "bra", "nu", "fi", "gar", "oh", "pe", "zan", "ul")


@dataclass(frozen=True)
class Linked:
    """Two sets, the scores of all pairs by their common columns, and the true partners."""

    kind: str
    told: str
    X: np.ndarray
    Y: np.ndarray
    prior: np.ndarray
    truth: np.ndarray


def draw_number(rng: np.random.Generator, n: int, hidden: np.ndarray) -> tuple[list, list, str]:
    """A number that is measured twice; it may follow from what the sets share."""
    drawn = (rng.normal(size=n), rng.uniform(size=n), rng.gamma(1.5, size=n), hidden)
    v = drawn[rng.integers(len(drawn))]
    v = (v - v.mean()) / v.std()
    blur = float(rng.choice(BLURS))
    digits = int(rng.integers(0, 4))
    a, b = (np.round(20 * (v + blur * rng.normal(size=n) / 2**0.5), digits).tolist() for _ in "ab")
    return a, b, f"number ± {blur}"


def draw_date(rng: np.random.Generator, n: int, hidden: np.ndarray) -> tuple[list, list, str]:
    """A day, and the day on which something followed it."""
    span = int(rng.choice((100, 1000, 10_000)))
    blur = float(rng.choice(BLURS))
    days = rng.integers(span, size=n)
    later = days + rng.integers(0, int(blur * span) + 1, size=n)
    start = np.datetime64("2000-01-01")
    return [(start + d).item() for d in days], [(start + d).item() for d in later], f"date + {blur}"


def draw_category(rng: np.random.Generator, n: int, hidden: np.ndarray) -> tuple[list, list, str]:
    """One of several values, some more frequent than others; some change."""
    k = int(rng.choice((2, 3, 5, 8, 12, 20)))
    shares = rng.dirichlet(np.full(k, 2.0))
    values = rng.choice(k, size=n, p=shares)
    if rng.random() < 0.3:  # it follows from what the sets share
        values = np.searchsorted(np.quantile(hidden, np.cumsum(shares)[:-1]), hidden)
    change = float(rng.choice(CHANGES))
    other = np.where(rng.random(n) < change, rng.integers(k, size=n), values)
    return [f"v{c}" for c in values], [f"v{c}" for c in other], f"{k} categories − {change}"


def draw_text(rng: np.random.Generator, n: int, hidden: np.ndarray) -> tuple[list, list, str]:
    """A name of two words, drawn from many or few; some are misspelt."""
    many = int(rng.choice((4, 8, 16)))
    change = float(rng.choice(CHANGES))
    words = ["".join(rng.choice(SYLLABLES, size=int(rng.integers(2, 4)))) for _ in range(2 * many)]
    names = [f"{words[rng.integers(many)]} {words[many + rng.integers(many)]}" for _ in range(n)]
    other = []
    for name in names:
        place = int(rng.integers(1, len(name)))
        other.append(name[:place] + name[place + 1 :] if rng.random() < change else name)
    return names, other, f"{many}² names − {change}"


DRAWN = {"number": draw_number, "date": draw_date, "category": draw_category, "text": draw_text}


def draw_common(rng: np.random.Generator, n: int, hidden: np.ndarray) -> tuple[Column, Column, str]:
    """Return a common column of both sets, and what it is."""
    kind = str(rng.choice(KINDS, p=(0.35, 0.35, 0.15, 0.15)))
    a, b, told = DRAWN[kind](rng, n, hidden)
    if rng.random() < FALSE:
        b, told = [b[k] for k in rng.permutation(n)], f"false {told}"
    gaps = float(rng.choice(GAPS))
    columns = [make_column(kind, [None if rng.random() < gaps else v for v in cells], kind=kind) for cells in (a, b)]
    return *columns, told


def draw_linked(seed: int, sizes: tuple[int, ...] = SIZES) -> Linked:
    """Return two sets with one to three common columns; every sixth has fewer objects in X."""
    rng = np.random.default_rng([20, seed])
    n = int(rng.choice(sizes, p=np.linspace(1.5, 0.5, len(sizes)) / len(sizes)))
    kind = str(rng.choice(list(RELATIONS)))
    n = max(n, FEWEST.get(kind, 0))
    X, Y = RELATIONS[kind](rng, n, float(rng.choice(NOISES)))
    hidden = (X - X.mean(axis=0)) @ rng.normal(size=X.shape[1])
    order = rng.permutation(n)
    of_x = rng.permutation(n)[: round(0.8 * n) if seed % 6 == 5 else n]
    prior, told = np.zeros((len(of_x), n)), []
    for _ in range(int(rng.choice((1, 2, 3), p=(0.3, 0.45, 0.25)))):
        one, other, what = draw_common(rng, n, hidden)
        prior += score_column(one, other)[np.ix_(of_x, order)]
        told.append(what)
    return Linked(kind, ", ".join(told), X[of_x], Y[order], prior, np.argsort(order)[of_x])


def match_linked(drawn: Linked) -> Example | None:
    """Match two sets; None where the common columns alone decide."""
    problem = Problem.check(drawn.X, drawn.Y, prior=drawn.prior, prior_in_nats=True)
    *_, answer = solve(problem)
    assert isinstance(answer, Answer)
    right = (answer.indices == drawn.truth)[answer.indices >= 0]
    print(f"{drawn.kind} n={len(drawn.X)}, {drawn.told}: {right.mean():.2f} right, {answer.reliability:.2f} claimed")
    consensus, constraints = answer.consensus, problem.constraints
    if consensus is None:
        return None
    geometries = chain(problem.geometries(), problem.further_geometries())
    geometry = next(g for g in geometries if g.metric == consensus.significance.metric)
    ratios = prior_calibration.held_out_ratios(geometry, consensus.indices)
    posterior = prior_calibration.prior_probabilities(constraints, ratios=ratios)
    return Example(drawn.kind, prior_calibration.features_of_both(consensus, posterior), right)


def match_alone(drawn: Linked) -> Example:
    """Match two sets by their common columns alone."""
    constraints = Problem.check(drawn.X, drawn.Y, prior=drawn.prior, prior_in_nats=True).constraints
    indices = constraints.round(prior_calibration.prior_probabilities(constraints))
    right = (indices == drawn.truth)[indices >= 0]
    return Example(drawn.kind, prior_calibration.features_by_prior(constraints, indices), right)


def held_out(sets: list[Example]) -> Iterator[np.ndarray]:
    """Yield the probabilities of each set by a fit to the sets of other kinds."""
    others = {kind: fit([e for e in sets if e.kind != kind]) for kind in {e.kind for e in sets}}
    for example in sets:
        yield others[example.kind].predict_proba(example.table)[:, 1]


def show_fit(names: tuple[str, str], sets: list[Example]) -> None:
    """Print the constants, and how true the claims of held-out kinds are; every set counts alike."""
    model = fit(sets)
    print(f"{names[0]}: float = {model.intercept_[0]:.2f}")
    print(f"{names[1]}: tuple[float, ...] = {tuple(np.round(model.coef_[0], 2).tolist())}")
    said = list(held_out(sets))
    p, right = np.concatenate(said), np.concatenate([e.right for e in sets])
    weight = np.concatenate([np.full(len(e.right), 1.0 / len(e.right)) for e in sets])
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        if inside.any():
            claimed, found = (float(np.average(v[inside], weights=weight[inside])) for v in (p, right))
            error += abs(claimed - found) * weight[inside].sum() / weight.sum()
            print(f"said {claimed:.2f}, right {found:.2f} ({inside.sum()} pairs)")
    shares = np.array([(q.mean(), e.right.mean()) for q, e in zip(said, sets, strict=True)])
    claims, found = shares.T
    bold, timid = (claims >= 0.5) & (found < 0.35), (claims < 0.5) & (found >= 0.6)
    print(
        f"{len(sets)} sets: calibration error {error:.3f}; claim and share right of a set differ by "
        f"{np.abs(claims - found).mean():.3f}; {bold.sum()} with less than .35 right called reliable, "
        f"{timid.sum()} with .60 or more not"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=120)
    parser.add_argument("--small", type=int, default=60)
    parser.add_argument("--alone", type=int, default=300)
    options = parser.parse_args()
    alone = [match_alone(draw_linked(seed, SMALL + SIZES)) for seed in range(2000, 2000 + options.alone)]
    show_fit(("alone_intercept", "alone"), alone)
    drawn = chain(map(draw_linked, range(options.sets)), (draw_linked(1000 + k, SMALL) for k in range(options.small)))
    matched = [example for each in drawn if (example := match_linked(each)) is not None]
    show_fit(("intercept", "coefficients"), matched)


if __name__ == "__main__":
    main()
