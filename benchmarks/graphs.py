"""Graphs: yeast protein networks and sparse random graphs, beside FAQ (scipy) and Gromov-Wasserstein (POT).

python3 dev.py bench graphs                 the table
python3 dev.py bench graphs ours            the same without the peers
python3 dev.py bench graphs symmetries      the most that can be expected of the yeast networks
python3 dev.py bench graphs order           what FAQ gains where the nodes of the second yeast network are in order
python3 dev.py bench graphs posterior       the most that can be expected by the edge model, from the truth on
python3 dev.py bench graphs calibrate       the numbers of pairup.graph.schedule.CALIBRATION, from generated graphs
python3 dev.py bench graphs check           claims beside what is right, on other generated graphs
python3 dev.py bench graphs many            20,000 nodes of five kinds, each in a process of its own
python3 dev.py bench graphs many 4000       the same with as many nodes

PAIRUP_DATA names the folder that holds graphs/yeast.npz; without it the yeast networks are left out.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import minimize, quadratic_assignment
from scipy.special import expit

import pairup
from pairup.assignment import assign
from pairup.constraints import Constraints
from pairup.graph.problem import GraphProblem, pad
from pairup.graph.relaxation import follow_plans
from pairup.graph.search import fit_terms
from pairup.graph.swaps import sample_swaps

YEAST_NOISE = (5, 10, 15, 20, 25)


def link(edges: np.ndarray, n: int) -> sparse.csr_array:
    """Return the undirected graph of some edges."""
    A = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    A = sparse.csr_array(((A + A.T) > 0).astype(float))
    A.setdiag(0)
    A.eliminate_zeros()
    return A


def shuffle(A: sparse.csr_array, B: sparse.csr_array, seed: int) -> tuple:
    """Return the graphs with the nodes of the second in random order, and where each node of the first is now."""
    order = np.random.default_rng([seed, 1]).permutation(B.shape[0])
    return A, sparse.csr_array(B[order][:, order]), np.argsort(order)


def yeast(noise: int) -> tuple:
    data = np.load(Path(os.environ["PAIRUP_DATA"]) / "graphs/yeast.npz")
    return shuffle(link(data["edges0"], 1004), link(data[f"edges{noise}"], 1004), noise)


def copies(parent: np.ndarray, n: int, lost: float, seed: int) -> tuple:
    """Return two copies of a graph (numbers of pairs i < k), each without some edges and with as many others."""
    rng = np.random.default_rng([seed, 2])
    i, k = np.triu_indices(n, 1)
    others = np.setdiff1d(np.arange(len(i)), parent)

    def copy() -> sparse.csr_array:
        kept = parent[rng.random(len(parent)) >= lost]
        chosen = np.concatenate([kept, rng.choice(others, len(parent) - len(kept), replace=False)])
        return link(np.stack([i[chosen], k[chosen]], axis=1), n)

    return shuffle(copy(), copy(), seed)


def random_graphs(lost: float, seed: int, *, n: int = 500, degree: float = 4.0) -> tuple:
    """Return two copies of an Erdős–Rényi graph."""
    pairs = n * (n - 1) // 2
    parent = np.flatnonzero(np.random.default_rng(seed).random(pairs) < degree / (n - 1))
    return copies(parent, n, lost, seed)


def kept(A: sparse.csr_array, B: sparse.csr_array, p: np.ndarray) -> int:
    return int(A.multiply(B[p][:, p]).sum() / 2)


def by_scipy(A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
    """Return the best of ten starts: the uniform plan, and nine random ones."""
    found = []
    for number in range(10):
        options = {"maximize": True, "rng": np.random.default_rng(number)} | ({"P0": "randomized"} if number else {})
        found.append(quadratic_assignment(A.toarray(), B.toarray(), method="faq", options=options))
    return max(found, key=lambda each: each.fun).col_ind


def by_scipy_convex(A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
    """Return what FAQ finds from the doubly stochastic solution of the convex relaxation."""
    n = A.shape[0]
    (plan,) = follow_plans(A, B, Constraints(n, n, n), pulls=(0.0,), steps=(500, 0))
    P = np.maximum(plan.astype(float), 0.0)
    for _ in range(100):  # sums are 1 up to single precision only
        P /= P.sum(axis=1, keepdims=True)
        P /= P.sum(axis=0, keepdims=True)
    options = {"maximize": True, "P0": P, "maxiter": 100}
    return quadratic_assignment(A.toarray(), B.toarray(), method="faq", options=options).col_ind


def by_pot(A: sparse.csr_array, B: sparse.csr_array) -> np.ndarray:
    import ot

    plan = ot.gromov.gromov_wasserstein(A.toarray(), B.toarray(), symmetric=True)
    return assign(plan)


PEERS = {
    "scipy FAQ, best of 10": by_scipy,
    "scipy FAQ, convex start": by_scipy_convex,
    "POT gromov_wasserstein": by_pot,
}


def compare(name: str, problems: list[tuple], *, peers: bool = True) -> None:
    """Print one row per method: means over the problems."""
    rows = {}
    for A, B, truth in problems:
        began = time.process_time()
        m = pairup.match(A, B)
        taken = time.process_time() - began
        row = ((m.indices == truth).mean(), kept(A, B, m.indices), taken, m.reliability, bool(m.reliable))
        rows.setdefault("pairup.match", []).append(row)
        for peer, solve in PEERS.items() if peers else ():
            began = time.process_time()
            try:
                p = solve(A, B)
            except ImportError:
                continue
            row = ((p == truth).mean(), kept(A, B, p), time.process_time() - began, np.nan, np.nan)
            rows.setdefault(peer, []).append(row)
    of_truth = np.mean([kept(A, B, truth) for A, B, truth in problems])
    for method, values in rows.items():
        accuracy, edges, seconds, claimed, reliable = np.mean(values, axis=0)
        print(
            f"| {name} | {method} | {accuracy:.3f} | {claimed:.3f} | {reliable:.2f} | {edges:.0f} | {of_truth:.0f} "
            f"| {seconds:.0f} |",
            flush=True,
        )


def refine_colours(A: sparse.csr_array, colours: list[np.ndarray]) -> list[np.ndarray]:
    """Return several colourings of the nodes refined together until neighbours add nothing."""
    while True:
        numbers: dict[tuple, int] = {}
        refined = [
            np.array(
                [
                    numbers.setdefault((c[i], *sorted(c[A.indices[A.indptr[i] : A.indptr[i + 1]]])), len(numbers))
                    for i in range(len(c))
                ]
            )
            for c in colours
        ]
        if len(numbers) == len(np.unique(np.concatenate(colours))):
            return refined
        colours = refined


def find_automorphism(A: sparse.csr_array, colours: np.ndarray, i: int, k: int) -> np.ndarray | None:
    """Return an automorphism that sends node i to node k, if the first tried is one."""
    pair = [colours.copy(), colours.copy()]
    pair[0][i] = pair[1][k] = colours.max() + 1
    while True:
        pair = refine_colours(A, pair)
        if not np.array_equal(*(np.sort(c) for c in pair)):
            return None
        values, counts = np.unique(pair[0], return_counts=True)
        if counts.max() == 1:
            p = np.empty(len(colours), dtype=int)
            p[np.argsort(pair[0])] = np.argsort(pair[1])
            return p if (A[p][:, p] != A).nnz == 0 else None
        x, y = (np.flatnonzero(c == values[counts > 1][0]) for c in pair)
        same = np.intersect1d(x, y)
        pair[0][same[0] if len(same) else x[0]] = pair[1][same[0] if len(same) else y[0]] = pair[0].max() + 1


def are_twins(A: sparse.csr_array, i: int, k: int) -> bool:
    """Tell whether two nodes have the same neighbours but for each other."""
    of_i, of_k = (set(A.indices[A.indptr[z] : A.indptr[z + 1]]) - {i, k} for z in (i, k))
    return of_i == of_k


def symmetries() -> None:
    """Print how many nodes of the yeast network have a double, and so the share of right pairs to be expected at most.

    Nodes that an automorphism exchanges cannot be told apart by anything that does not see the order of the nodes: of
    an orbit of k nodes one is right on average.
    """
    data = np.load(Path(os.environ["PAIRUP_DATA"]) / "graphs/yeast.npz")
    A = link(data["edges0"], 1004)
    (colours,) = refine_colours(A, [np.zeros(1004, dtype=int)])
    orbits = 0
    for colour in np.unique(colours):
        alike = np.flatnonzero(colours == colour)
        orbits += 1
        for place, k in enumerate(alike[1:], start=1):
            twin = any(are_twins(A, i, k) for i in alike[:place])
            orbits += not twin and find_automorphism(A, colours, alike[0], k) is None
    print(f"{orbits} orbits of 1004 nodes: at most {orbits / 1004:.3f} right on average, at any noise")


def in_order(noise: int, seed: int | None) -> tuple:
    """Return two yeast networks, the second shuffled by a seed or, without one, with its nodes in the same order."""
    data = np.load(Path(os.environ["PAIRUP_DATA"]) / "graphs/yeast.npz")
    A, B = link(data["edges0"], 1004), link(data[f"edges{noise}"], 1004)
    order = np.arange(1004) if seed is None else np.random.default_rng([noise, seed, 7]).permutation(1004)
    return A, sparse.csr_array(B[order][:, order]), np.argsort(order)


def compare_orders(shuffles: int) -> None:
    """Print what FAQ from a convex start finds where the partner of node i is node i, and where the order is random.

    Assignments break ties by the number of the node, so the first is not fair.
    """
    for noise in YEAST_NOISE:
        for seed in (None, *range(shuffles)):
            A, B, truth = in_order(noise, seed)
            p = by_scipy_convex(A, B)
            name = "in order" if seed is None else f"shuffle {seed}"
            print(f"{noise} % noise, {name}: {(p == truth).mean():.3f} right, {kept(A, B, p)} edges", flush=True)


def sample_from_truth(swaps: int = 8_000_000) -> None:
    """Print what is expected of matchings drawn from the edge model that is fitted to the truth, from the truth on."""
    for noise in YEAST_NOISE:
        A, B, truth = yeast(noise)
        padded = pad(GraphProblem.check(A, B))
        terms = fit_terms(padded, truth, padded.terms())
        shares = sample_swaps(terms, truth, padded.fixed, steps=swaps, samples=2000, seed=0)
        p, nodes = assign(shares), np.arange(len(truth))
        print(
            f"{noise} % noise: a node's largest share {shares.max(axis=1).mean():.3f} on average, of the best "
            f"matching {shares[nodes, p].mean():.3f}, of the truth {shares[nodes, truth].mean():.3f}; the best "
            f"matching has {(p == truth).mean():.3f} right and keeps {kept(A, B, p)} edges",
            flush=True,
        )


def draw(kind: int, n: int, degree: int, seed: int) -> np.ndarray:
    """Return a graph of one of six kinds, as numbers of pairs i < k."""
    import networkx as nx

    within, between = 0.9 * degree / (n / 5), 0.1 * degree / (n * 4 / 5)
    kinds = (
        lambda: nx.gnm_random_graph(n, n * degree // 2, seed=seed),
        lambda: nx.barabasi_albert_graph(n, degree // 2, seed=seed),
        lambda: nx.watts_strogatz_graph(n, degree, 0.2, seed=seed),
        lambda: nx.random_geometric_graph(n, np.sqrt(degree / (np.pi * n)), seed=seed),
        lambda: nx.planted_partition_graph(5, n // 5, min(within, 1.0), between, seed=seed),
        lambda: nx.powerlaw_cluster_graph(n, degree // 2, 0.7, seed=seed),
    )
    return np.flatnonzero(nx.to_numpy_array(kinds[kind]())[np.triu_indices(n, 1)])


def generated(seed: int) -> tuple:
    """Return two graphs for the calibration: two noisy copies, a graph and more of it, or two unrelated ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([40, 80, 150]))
    degree = int(rng.choice([4, 6, 10]))
    kind, relation = seed % 6, rng.random()
    parent = draw(kind, n, degree, seed)
    i, k = np.triu_indices(n, 1)
    if relation < 0.25:
        other = draw(kind, n, degree, seed + 1_000_000)
        return shuffle(*(link(np.stack([i[e], k[e]], axis=1), n) for e in (parent, other)), seed)
    if relation < 0.4:
        more = rng.choice(np.setdiff1d(np.arange(len(i)), parent), len(parent) // 5, replace=False)
        larger = np.concatenate([parent, more])
        return shuffle(*(link(np.stack([i[e], k[e]], axis=1), n) for e in (parent, larger)), seed)
    return copies(parent, n, float(rng.choice([0.03, 0.07, 0.12, 0.18, 0.25])), seed)


def calibrate(draws: int) -> None:
    """Fit how likely the found solution is the right one, by its excess and by how sharp the sampled matchings are."""
    rows = []
    for seed in range(draws):
        A, B, truth = generated(seed)
        answer = pairup.match(A, B).model
        rows.append((answer.excess, answer.sampled.mean(), (answer.indices == truth).mean()))
        excess, sampled, right = rows[-1]
        print(f"{seed} n={len(truth)} excess {excess:.2f} sampled {sampled:.2f} right {right:.2f}", flush=True)
    print("intercept, excess, sampled:", fit_trust(np.array(rows)).round(2))


def fit_trust(rows: np.ndarray) -> np.ndarray:
    """Return the coefficients for which trust · sampled is likeliest as the share of right pairs, one row per graph."""
    excess, sampled, right = rows.T

    def loss(c: np.ndarray) -> float:
        p = np.clip(expit(c[0] + c[1] * excess + c[2] * sampled) * sampled, 1e-3, 1 - 1e-3)
        return float(-(right * np.log(p) + (1 - right) * np.log1p(-p)).sum()) + 1e-3 * float(c @ c)

    return minimize(loss, [-6.0, 10.0, 3.0], method="Nelder-Mead", options={"maxiter": 4000, "maxfev": 4000}).x


def check(draws: int) -> None:
    """Compare claims with what is right, over graphs that the calibration has not seen."""
    claimed, right, reliable, shares = [], [], [], []
    for seed in range(10_000, 10_000 + draws):
        A, B, truth = generated(seed)
        m = pairup.match(A, B)
        claimed.append(m.confidence)
        right.append(m.indices == truth)
        reliable.append(bool(m.reliable))
        shares.append(right[-1].mean())
        print(f"{seed} claimed {m.reliability:.2f} right {shares[-1]:.2f} reliable {m.reliable}", flush=True)
    p, y = np.concatenate(claimed), np.concatenate(right)
    for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.95), (0.95, 1.01)):
        inside = (p >= low) & (p < high)
        if inside.any():
            told = f"{p[inside].mean():.2f} claimed, {y[inside].mean():.2f} right"
            print(f"claimed {low}–{high}: {inside.sum()} pairs, {told}")
    shares, called = np.array(shares), np.array(reliable)
    for name, inside in (
        (".6 or more right", shares >= 0.6),
        (".35 to .6", (shares >= 0.35) & (shares < 0.6)),
        ("less than .35", shares < 0.35),
    ):
        print(f"called reliable with {name}: {called[inside].sum()} of {inside.sum()}")
    print(f"claimed {p.mean():.3f} of all pairs, right {y.mean():.3f}")


MANY_ROWS = (
    ("random", 4, 0.9),
    ("random", 4, 0.8),
    ("random", 6, 0.8),
    ("random", 8, 0.8),
    ("preferential attachment", 6, 0.95),
    ("preferential attachment", 6, 0.8),
    ("small world", 6, 0.9),
    ("geometric", 8, 0.9),
    ("blocks", 6, 0.9),
    ("random, 70 % of the nodes", 6, 0.9),
    ("preferential attachment, 70 % of the nodes", 6, 0.9),
    ("random, unrelated", 6, 0.0),
    ("preferential attachment, unrelated", 6, 0.0),
    ("geometric, unrelated", 8, 0.0),
)


def draw_many(kind: str, n: int, degree: int, rng: np.random.Generator) -> np.ndarray:
    """Return a graph of one of five kinds, as sorted numbers n · i + k of pairs i < k."""
    if kind == "preferential attachment":
        import networkx as nx

        u, v = np.array(nx.barabasi_albert_graph(n, degree // 2, seed=int(rng.integers(2**31))).edges).T
    elif kind == "small world":
        u = np.repeat(np.arange(n), degree // 2)
        v = (u + np.tile(np.arange(1, degree // 2 + 1), n)) % n
        v = np.where(rng.random(len(u)) < 0.2, rng.integers(n, size=len(u)), v)
    elif kind == "geometric":
        from scipy.spatial import cKDTree

        u, v = cKDTree(rng.random((n, 2))).query_pairs(np.sqrt(degree / (np.pi * n)), output_type="ndarray").T
    else:
        u, v = rng.integers(n, size=(2, n * degree // 2))
        if kind == "blocks":
            near = np.minimum(u // (n // 20) * (n // 20) + rng.integers(n // 20, size=len(u)), n - 1)
            v = np.where(rng.random(len(u)) < 0.8, near, v)
    apart = u != v
    return np.unique(np.minimum(u, v)[apart].astype(np.int64) * n + np.maximum(u, v)[apart])


def pair_many(name: str, n: int, degree: int, common: float, seed: int) -> tuple:
    """Return two graphs of many nodes that share a part of their edges, and the partner of each node of the first."""
    kind, _, relation = name.partition(", ")
    rng = np.random.default_rng([seed, n])
    parent = draw_many(kind, n, degree, rng)

    def copy() -> sparse.csr_array:
        if relation == "unrelated":
            edges = draw_many(kind, n, degree, rng)
        else:
            kept = parent[rng.random(len(parent)) < common**0.5]
            u, v = rng.integers(n, size=(2, len(parent) - len(kept)))
            others = np.minimum(u, v)[u != v] * n + np.maximum(u, v)[u != v]
            edges = np.union1d(kept, others)
        return link(np.stack(np.divmod(edges, n), axis=1), n)

    A, B, truth = shuffle(copy(), copy(), seed)
    if relation.startswith("70 %"):
        nodes = np.sort(rng.permutation(n)[: int(0.7 * n)])
        return sparse.csr_array(A[nodes][:, nodes]), B, truth[nodes]
    return A, B, truth


def measure_many(name: str, n: int, degree: int, common: float, seed: int) -> str:
    """Return one row of the table of many nodes."""
    import resource

    A, B, truth = pair_many(name, n, degree, common, seed)
    began = time.process_time()
    m = pairup.match(A, B)
    taken = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    right = (m.indices == truth).mean() if common else 0.0
    return (
        f"| {name} | {n} | {degree} | {common:.2f} | {right:.3f} | {m.reliability:.3f} | {m.reliable} "
        f"| {m.dependence:.0f} | {taken:.0f} | {peak:.0f} |"
    )


def compare_many(n: int, seed: int = 0) -> None:
    """Print one row for each kind of graph, each from a process of its own, for its peak memory."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    print("| graphs | nodes | mean degree | edges in common | right | claimed | reliable | kept | CPU s | peak MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, degree, common in MANY_ROWS:
            print(pool.submit(measure_many, name, n, degree, common, seed).result(), flush=True)


if __name__ == "__main__":
    draws = int(sys.argv[-1]) if sys.argv[-1].isdecimal() else 90
    if "calibrate" in sys.argv:
        calibrate(draws)
    elif "check" in sys.argv:
        check(draws)
    elif "many" in sys.argv:
        compare_many(int(sys.argv[-1]) if sys.argv[-1].isdecimal() else 20_000)
    elif "symmetries" in sys.argv:
        symmetries()
    elif "order" in sys.argv:
        compare_orders(int(sys.argv[-1]) if sys.argv[-1].isdecimal() else 5)
    elif "posterior" in sys.argv:
        sample_from_truth()
    else:
        peers = "ours" not in sys.argv
        print("| graphs | method | right | claimed | called reliable | edges kept | at the truth | CPU s |")
        print("|---|---|---|---|---|---|---|---|")
        for common in (0.8, 0.75, 0.7, 0.64):
            problems = [random_graphs(1 - common**0.5, seed) for seed in range(3)]
            compare(f"random, {common:.0%} of the edges in common", problems, peers=peers)
        if "PAIRUP_DATA" in os.environ:
            for noise in YEAST_NOISE:
                compare(f"yeast, {noise} % noise", [yeast(noise)], peers=peers)
