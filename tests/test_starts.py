import numpy as np
import pytest
from scipy.linalg import eigh

from pairup.annealing import NO_ANCHORS, Terms
from pairup.measures import Quadratic
from pairup.starts import (
    LANCZOS_FROM,
    TURNS,
    both_signs,
    leading_eigenvectors,
    leverage_start,
    profile_start,
    sort_match,
    starting_plans,
    turned_starts,
)
from pairup.views import views


@pytest.mark.parametrize("n", [20, LANCZOS_FROM + 30])
def test_eigenvectors_agree_with_a_dense_solver(rng, n):
    A = rng.normal(size=(n, 5))
    K = A @ A.T
    V = leading_eigenvectors(K, 2)
    dense = eigh(K)[1][:, [-1, -2]]
    np.testing.assert_allclose(np.abs(np.sum(V * dense, axis=0)), 1, atol=1e-8)


def test_eigenvectors_are_repeatable_and_signed_alike(rng):
    A = rng.normal(size=(200, 3))
    K = A @ A.T
    first, second = leading_eigenvectors(K), leading_eigenvectors(K)
    np.testing.assert_array_equal(first, second)
    assert first[np.abs(first).argmax()] > 0


def test_the_start_is_optimal_for_rank_one_kernels(rng):
    from itertools import permutations

    for _ in range(5):
        f, g = rng.normal(size=6), rng.normal(size=6)
        measure = Quadratic(np.outer(f, f), np.outer(g, g))
        best = max(measure.value(np.array(q)) for q in permutations(range(6)))
        assert max(measure.value(start) for start in both_signs(f, g)) == pytest.approx(best)


def test_sorting_alike_maximises_the_inner_product(rng):
    f, g = rng.normal(size=50), rng.normal(size=50)
    assert f @ g[sort_match(f, g)] == pytest.approx(np.sort(f) @ np.sort(g))


@pytest.mark.parametrize("start", [profile_start, leverage_start])
def test_starts_by_what_no_isometry_changes_know_isometric_sets(start, rng, skewed):
    X, Y, truth = skewed(rng, noise=0.0)
    terms = Terms(60, 60, 60, NO_ANCHORS)
    assert (start(next(views(X, Y)), terms) == truth).mean() > 0.9


def test_turned_starts_are_fewer_for_many_objects(rng):
    few, many = rng.normal(size=(20, 4)), rng.normal(size=(500, 4))
    for Z, count in ((few, 2 * TURNS), (many, 4)):
        terms = Terms(len(Z), len(Z), len(Z), NO_ANCHORS)
        found = list(turned_starts(next(views(Z, Z)), terms, seed=0))
        assert len(found) == count
        assert all((np.sort(p) == np.arange(len(Z))).all() for p in found)


def test_starts_fit_sets_of_unequal_sizes(rng, skewed):
    X, Y, _ = skewed(rng)
    terms = Terms(60, 40, 40, NO_ANCHORS)
    for plan in starting_plans(next(views(X, Y[:40])), terms):
        assert plan.shape == (60, 40)
        assert plan.sum() == pytest.approx(40, rel=1e-3)
