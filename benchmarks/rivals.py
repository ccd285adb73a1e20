"""Procedures that others use to match two sets without labels, each as a function from two tables to a plan."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from matching import pot, scipy_faq, scot_plan, scot_solve
from scipy.optimize import quadratic_assignment
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from pairup.assignment import assign
from pairup.components import principal_components

Plan = np.ndarray
PUBLISHED_NEIGHBOURS = {177: 35}  # of SCOT: its authors' choice for scGEM; elsewhere what their documentation advises


def smaller_first(solve: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[np.ndarray, np.ndarray], Plan]:
    """Let a solver for sets of one size match sets that differ by a few objects: the last of the larger stay alone."""

    def match(X: np.ndarray, Y: np.ndarray) -> Plan:
        n = min(len(X), len(Y))
        plan = np.zeros((len(X), len(Y)))
        plan[np.arange(n), solve(X[:n], Y[:n])] = 1.0
        return plan

    return match


# --- SCOT ------------------------------------------------------------------------------------------------------------
def scot(X: np.ndarray, Y: np.ndarray) -> Plan:
    """SCOT with published parameters: standardized columns, correlation, ε = .005, n/5 neighbours but 50 at most."""
    from sklearn.preprocessing import scale

    n = min(len(X), len(Y))
    k = PUBLISHED_NEIGHBOURS.get(n, min(50, n // 5))
    return scot_plan(scale(X), scale(Y), k, "correlation")


def scot_without_labels(X: np.ndarray, Y: np.ndarray) -> Plan:
    """SCOT by its own label-free rule: the ε and the neighbours of least Gromov-Wasserstein distance.

    As its paper describes: ε at a fixed number of neighbours, then their number at that ε, then ε once more, finer.
    """
    n = min(len(X), len(Y))
    x, y = normalize(X), normalize(Y)
    epsilons = np.geomspace(1e-2, 5e-4, 8)
    numbers = np.linspace(20, 100, 5) if n > 250 else np.linspace(n // 20, n // 6, 5)
    plans: dict[tuple[int, float], tuple[float, Plan]] = {}

    def solve(k: int, epsilon: float) -> float:
        if (k, epsilon) not in plans:
            plans[k, epsilon] = entropic_distance(x, y, k, epsilon)
        return plans[k, epsilon][0]

    k = min(n // 5, 50)
    epsilon = min(epsilons, key=lambda e: solve(k, e))
    k = min([k, *(int(number) for number in numbers)], key=lambda each: solve(each, epsilon))
    epsilon = min([epsilon, *(epsilon * np.geomspace(0.5, 2, 4))], key=lambda e: solve(k, e))
    return plans[k, epsilon][1]


def entropic_distance(x: np.ndarray, y: np.ndarray, k: int, epsilon: float) -> tuple[float, Plan]:
    """Return the Gromov-Wasserstein distance of SCOT's plan, infinite where the solver broke down, and the plan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too small an ε: the rule passes over it
        plan, distance = scot_solve(x, y, max(k, 2), "correlation", epsilon)
    whole = bool(np.isfinite(plan).all()) and abs(plan.sum() - 1) < 1e-3
    return (float(distance) if whole else np.inf), plan


# --- matched cluster centres, profiles, rotations: in the manner of mini-vec2vec -------------------------------------
def rotate_by_profiles(X: np.ndarray, Y: np.ndarray) -> Plan:
    """Match cluster centres by small quadratic assignments, compare profiles to them, and refine a rotation.

    Our own writing of the idea: twenty clusterings of either side; centres matched by their Gram matrices; every object
    by its similarities to all matched centres; then rotations (Procrustes) to the mean of the k nearest partners, k
    from 40 down to 1, both ways; a linear assignment at the end.
    """
    x, y = prepare(X, Y)
    profiles = [normalize(p - p.mean(axis=0)) for p in map(np.hstack, zip(*matched_profiles(x, y), strict=True))]
    S = profiles[0] @ profiles[1].T
    for k in (40, 40, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2, 2, 1, 1, 1):
        k = min(k, len(x) // 4, len(y) // 4)
        M = x.T @ mean_of_nearest(S, y, k) + mean_of_nearest(S.T, x, k).T @ y
        U, _, V = np.linalg.svd(M)
        S = normalize(x @ U @ V) @ normalize(y).T
    return hard_or_partial(S)


def hard_or_partial(S: np.ndarray) -> Plan:
    indices = assign(S)
    plan = np.zeros(S.shape)
    matched = np.flatnonzero(indices >= 0)
    plan[matched, indices[matched]] = 1.0
    return plan


def prepare(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre, scale rows to length 1, and keep up to 100 principal components, as many of both."""
    rows = [normalize(Z - Z.mean(axis=0)) for Z in (X, Y)]
    scores = []
    for Z in rows:
        U, variances = principal_components(Z - Z.mean(axis=0))
        scores.append(U * np.sqrt(variances))
    d = min(100, *(Z.shape[1] for Z in scores))
    x, y = (normalize(Z[:, :d]) for Z in scores)
    return x, y


def matched_profiles(x: np.ndarray, y: np.ndarray, rounds: int = 20) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield similarities of the objects of both sets to matched cluster centres, one clustering after another."""
    k = max(4, min(20, len(x) // 8, len(y) // 8))
    for seed in range(rounds):
        A, B = (KMeans(k, n_init=1, random_state=seed).fit(Z).cluster_centers_ for Z in (x, y))
        G, H = (C @ C.T for C in (A - A.mean(axis=0), B - B.mean(axis=0)))
        starts = np.random.default_rng(seed).spawn(10)
        found = [quadratic_assignment(G, H, method="2opt", options={"maximize": True, "rng": rng}) for rng in starts]
        p = max(found, key=lambda result: result.fun).col_ind
        yield x @ A.T, y @ B[p].T


def mean_of_nearest(S: np.ndarray, partners: np.ndarray, k: int) -> np.ndarray:
    nearest = np.argpartition(-S, k - 1, axis=1)[:, :k]
    return partners[nearest].mean(axis=1)


RIVALS: dict[str, tuple[str | None, Callable[[np.ndarray, np.ndarray], Plan]]] = {
    "POT Gromov-Wasserstein": ("ot", smaller_first(pot)),
    "scipy FAQ": (None, smaller_first(scipy_faq)),
    "SCOT, published parameters": ("ot", scot),
    "SCOT, label-free rule": ("ot", scot_without_labels),
    "centres, profiles, rotations": (None, rotate_by_profiles),
}
