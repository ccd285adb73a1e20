import numpy as np
import pytest

from pairup.auto import cluster_plans
from pairup.auto.cluster_plans import ClusterPopulation, Clusters, breed_plans, leading_components
from pairup.auto.geometry import Geometry, mean_low_rank_form
from pairup.auto.metrics import whitened_geometries
from pairup.auto.schedule import CLUSTER_PLANS
from pairup.constraints import Constraints
from pairup.datasets import shuffle_pair
from pairup.kernels import squared_distances

N = 240


def factors(seed, n=N):
    """Four positive factors of equal weight against logarithms of their mixtures."""
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4))
    return shuffle_pair(Z, np.log1p(Z @ np.abs(rng.normal(size=(4, 6)))), random_state=seed)


@pytest.fixture(scope="module")
def related():
    X, Y, truth = factors(1)
    geometry = next(g for g in whitened_geometries(X, Y) if g.metric == "whitened-4")
    return geometry, truth


def some_population(geometry, seed=0, k=40):
    form = mean_low_rank_form(geometry.x.subspace, geometry.y.subspace, CLUSTER_PLANS.epsilon, [0, 2])
    sides = ((form.A, form.S, geometry.x), (form.B, form.T, geometry.y))
    x, y = (Clusters.of(A, S.sum(axis=0), leading_components(side), k, seed) for A, S, side in sides)
    return ClusterPopulation(form, x, y, np.random.default_rng(seed))


def test_the_best_plan_between_clusters_leads_to_the_region_of_each_partner(related):
    geometry, truth = related
    plans = breed_plans(geometry, Constraints(N, N, N), seed=0)
    assert len(plans) == CLUSTER_PLANS.continued
    place = np.argsort(np.argsort(-plans[0], axis=1), axis=1)[np.arange(N), truth]
    assert np.median(place) < 0.1 * N
    np.testing.assert_allclose(plans[0].sum(axis=0), 1.0, atol=1e-3)


def test_the_same_seed_breeds_the_same_plans(related, monkeypatch):
    monkeypatch.setattr(cluster_plans, "CLUSTER_PLANS", type(CLUSTER_PLANS)(generations=2, starts=20, children=20))
    one, other = (breed_plans(related[0], Constraints(N, N, N), seed=3) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_a_population_without_gain_is_not_bred_on(related, monkeypatch):
    few = type(CLUSTER_PLANS)(starts=10, children=10, patience=2, stands_out=1e9)
    monkeypatch.setattr(cluster_plans, "CLUSTER_PLANS", few)
    bred = []
    monkeypatch.setattr(ClusterPopulation, "breed", lambda self, count: bred.append(count))
    breed_plans(related[0], Constraints(N, N, N), seed=0)
    assert len(bred) == 3


def test_populations_are_ordered_distinct_and_never_lose_their_best(related):
    population = some_population(related[0])
    population.settle(30)
    best = population.values[0]
    for _ in range(3):
        population.breed(30)
    assert (np.diff(population.values) <= 0).all()
    assert population.values[0] >= best
    assert len(population.values) <= CLUSTER_PLANS.population
    maps = (population.covariances(population.plans) * population._scale).reshape(len(population.plans), -1)
    alike = maps @ maps.T / np.linalg.norm(maps, axis=1) / np.linalg.norm(maps, axis=1)[:, None]
    assert (alike - 2 * np.eye(len(maps)) < CLUSTER_PLANS.same + 1e-3).all()


def test_plans_have_the_sums_of_the_clusters(related):
    population = some_population(related[0])
    population.settle(10)
    population.breed(10)
    for plan in population.plans:
        np.testing.assert_allclose(plan.sum(axis=0), population.y.weights, rtol=1e-3)
    np.testing.assert_allclose(population.plans.sum(axis=(1, 2)), 1.0, rtol=1e-4)


def test_a_turned_map_keeps_what_is_matched_well(related):
    population = some_population(related[0])
    population.settle(20)
    c, d = population.x.coordinates, population.y.coordinates
    U, s, Vt = np.linalg.svd(c.T @ population.plans[0] @ d)
    for _ in range(10):
        profits = population.turn(population.plans[0])
        inner = U.T @ np.linalg.lstsq(c, np.linalg.lstsq(d, profits.T, rcond=None)[0].T, rcond=None)[0] @ Vt.T
        kept = np.abs(np.diag(inner) - s) < 1e-3 * s[0]
        assert not kept[-1] or len(s) == 1
        assert kept[: int(kept.sum())].all()


def test_a_child_is_a_region_of_each_parent_or_a_mixture(related):
    population = some_population(related[0])
    population.settle(20)
    p, q = population.plans[:2]
    for _ in range(10):
        child = population.cross_over(p, q)
        assert (child >= 0).all()
        assert child.sum() == pytest.approx(1.0, abs=0.3)
        assert not np.array_equal(child, p)


def test_no_cluster_of_equal_objects_is_empty():
    Z = np.repeat(np.arange(5.0), 12)[:, None]
    geometry = Geometry(squared_distances(Z))
    A, S = geometry.subspace.whiten(0.1, [0])
    clusters = Clusters.of(A, S[0], leading_components(geometry), 20, 0)
    assert 5 <= len(clusters.weights) <= 20
    assert (clusters.weights > 0).all()
    assert clusters.weights.sum() == pytest.approx(1.0)
    assert leading_components(geometry).shape == (60, 1)


def test_sets_of_unequal_sizes_and_forbidden_pairs_are_kept_to(related, monkeypatch):
    monkeypatch.setattr(cluster_plans, "CLUSTER_PLANS", type(CLUSTER_PLANS)(generations=1, starts=10, children=10))
    X, Y, _ = factors(2)
    geometry = next(whitened_geometries(X, Y[:200]))
    forbidden = np.array([0, 1]), np.array([3, 4])
    plans = breed_plans(geometry, Constraints(N, 200, 200, forbidden=forbidden), seed=0)
    assert plans[0].shape == (N, 200)
    assert (plans[0][forbidden] == 0).all()
    assert np.isfinite(plans[0]).all()
