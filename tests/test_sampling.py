from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pairup.sampling import farthest_first, representatives


@pytest.mark.parametrize("first", [(), (5,), (17, 2, 9)])
def test_each_choice_is_the_farthest_from_those_before_it(first, rng):
    X = rng.normal(size=(40, 3)) + 100
    D = cdist(X, X)
    chosen = farthest_first(X, 12, first).tolist()
    assert chosen[: len(first)] == list(first)
    assert first or chosen[0] == np.linalg.norm(X - X.mean(axis=0), axis=1).argmin()
    for i in range(max(len(first), 1), 12):
        assert chosen[i] == D[:, chosen[:i]].min(axis=1).argmax()


def test_the_covering_radius_is_at_most_twice_the_best(rng):
    X = rng.random((12, 2))
    D = cdist(X, X)
    best = min(D[:, list(centres)].min(axis=1).max() for centres in combinations(range(12), 3))
    assert D[:, farthest_first(X, 3)].min(axis=1).max() <= 2 * best


def test_duplicates_are_chosen_once_each():
    assert sorted(farthest_first(np.zeros((9, 2)), 9)) == list(range(9))
    assert len(set(representatives(np.zeros((9, 2)), 5))) == 5


@pytest.mark.parametrize(("k", "first"), [(0, ()), (6, ()), (1, (0, 1))])
def test_impossible_numbers_are_refused(k, first):
    with pytest.raises(ValueError, match=r"k must lie between \d and 5, the number of rows, got"):
        farthest_first(np.arange(5.0)[:, None], k, first)


def test_representatives_are_different_and_in_the_middle_of_their_group(rng):
    centres = np.array([[0, 0], [0, 9], [9, 0], [9, 9.0]])
    X = np.repeat(centres, 25, axis=0) + rng.standard_normal((100, 2)) * 0.5
    chosen = representatives(X, 4)
    for group, item in enumerate(chosen):
        members = np.arange(25 * group, 25 * (group + 1))
        to_mean = np.linalg.norm(X[members] - X[members].mean(axis=0), axis=1)
        assert item == members[to_mean.argmin()]


def test_given_objects_stay_among_the_representatives(rng):
    X = rng.random((50, 2))
    assert {7, 30} <= set(representatives(X, 4, first=[7, 30]).tolist())
