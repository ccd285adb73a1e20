import numpy as np

from pairup.album.local_search import advance, anneal_swaps, auction, gaussian_means, scale, seed_state

GRID = np.argwhere(np.ones((16, 16)))


def test_random_integers_are_in_range_and_spread(rng):
    state, counts = np.uint64(seed_state(0)), np.zeros(10)
    for _ in range(2000):
        state = np.uint64(advance(state))
        counts[scale(state, 10)] += 1
    assert counts.min() > 150
    assert len({seed_state(seed) for seed in range(100)} - {0}) == 100


def test_gaussian_means_are_means(rng):
    X = rng.random((256, 3)).astype(np.float32)
    order = rng.permutation(256)
    row, column = GRID.T.astype(np.int32)
    fixed = np.arange(256) == 18
    means = gaussian_means(X, order, row, column, fixed, 1.2)
    for c in (0, 17, 130, 255):
        inside = (abs(row - row[c]) <= 3) & (abs(column - column[c]) <= 3)  # 2.5 standard deviations
        kernel = np.exp(-((row - row[c]) ** 2 + (column - column[c]) ** 2) / (2 * 1.2**2))
        weights = inside * kernel * np.where(fixed, 1 + 12 * 1.2**2 / 8, 1)
        weights[c] -= 0.5
        np.testing.assert_allclose(means[c], np.average(X[order], axis=0, weights=weights), rtol=1e-5)


def test_auction_with_all_options_and_a_small_increment_is_exact(rng):
    from scipy.optimize import linear_sum_assignment

    n = 30
    X, means = rng.random((n, 3)).astype(np.float32), rng.random((n, 3)).astype(np.float32)
    order, where = np.arange(n), np.arange(n)
    every = np.stack([np.roll(np.arange(n), -i) for i in range(n)]).astype(np.int32)
    nobody = np.zeros(n, dtype=bool)
    auction(X, means, order, where, every, every[:, 1:], nobody, np.zeros(n, dtype=np.float32), np.float32(1e-5), 0, 0)
    cost = -means @ X.T
    best = cost[linear_sum_assignment(cost)].sum()
    assert cost[np.arange(n), order].sum() <= best + n * 1e-5 + 1e-4
    np.testing.assert_array_equal(where[order], np.arange(n))


def test_cold_swaps_never_raise_the_energy(rng):
    D = rng.random((25, 25)).astype(np.float32)
    D = D + D.T
    ring = np.stack([np.arange(25) - 1, (np.arange(25) + 1) % 25], axis=1).astype(np.int32) % 25
    weights = np.ones(ring.shape, dtype=np.float32)

    def energy(order):
        return sum(D[order[c], order[ring[c]]].sum() for c in range(25))

    order = rng.permutation(25)
    before = energy(order)
    free = np.zeros(25, dtype=bool)
    made = anneal_swaps(D, order, ring, weights, ring, ring, free, 0.0, 0.0, 5000, 0)
    assert made > 0
    assert energy(order) < before
    assert sorted(order) == list(range(25))


def test_fixed_cells_keep_their_items(rng):
    n = 25
    X = rng.random((n, 3)).astype(np.float32)
    D = np.linalg.norm(X[:, None] - X, axis=2).astype(np.float32)
    ring = np.stack([np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)], axis=1).astype(np.int32)
    near = np.column_stack([np.arange(n), ring]).astype(np.int32)
    fixed = np.arange(n) % 5 == 0
    order = rng.permutation(n)
    held = order[fixed].copy()
    where, prices = np.argsort(order), np.zeros(n, dtype=np.float32)
    auction(X, X[::-1].copy(), order, where, near, ring, fixed, prices, np.float32(0.01), 3, 0)
    np.testing.assert_array_equal(order[fixed], held)
    anneal_swaps(D, order, ring, np.ones(ring.shape, np.float32), near, ring, fixed, 0.5, 0.05, 5000, 0)
    np.testing.assert_array_equal(order[fixed], held)
    assert sorted(order) == list(range(n))


def test_annealing_finds_the_shortest_tour_of_few_points(rng):
    from itertools import permutations

    n = 7
    X = rng.random((n, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2).astype(np.float32)
    ring = np.stack([np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)], axis=1).astype(np.int32)

    def length(order):
        return float(D[order, np.roll(order, 1)].sum())

    best = min(length([0, *rest]) for rest in permutations(range(1, n)))
    order = rng.permutation(n)
    everyone = np.array([[j for j in range(n) if j != i] for i in range(n)], dtype=np.int32)
    weights, free = np.ones(ring.shape, np.float32), np.zeros(n, dtype=bool)
    anneal_swaps(D, order, ring, weights, everyone, everyone, free, 0.3, 0.003, 20_000, 0)
    assert abs(length(order) - best) < 1e-5
