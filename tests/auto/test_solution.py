"""Matchings of many objects: what they have in common, and which is the best."""

from dataclasses import replace

import numpy as np

from pairup.auto.problem import Problem
from pairup.auto.solution import Solution, agree_with_best, is_decided, is_same, rank_solutions
from pairup.auto.view import View


def test_a_solution_found_twice_decides():
    Y = np.arange(1000.0)[:, None]
    one, other = np.arange(1000), np.arange(1000)[::-1].copy()
    near = np.roll(one, 3)  # the partners are others, and lie in the same place
    found = [Solution(metric, indices, 1.0, 0.8, 32) for metric, indices in zip("abc", (one, other, near), strict=True)]
    assert not is_decided(found[:2], Y)
    assert is_decided(found, Y)
    assert not is_decided([found[0], replace(found[2], found_again=0.1)], Y)  # it does not predict its own pairs
    assert agree_with_best(found, Y) == [True, False, True]


def test_solutions_without_pairs_in_common_are_two():
    Y = np.arange(100.0)[:, None]
    half = np.where(np.arange(100) < 50, np.arange(100), -1)
    other = np.where(np.arange(100) < 50, -1, np.arange(100))
    assert not is_same(Solution("a", half, 1.0, 0.8, 32), Solution("a", other, 1.0, 0.8, 32), Y)


def test_the_true_pairing_comes_before_those_with_fewer_right_pairs(skewed, rng):
    X, Y, truth = skewed(rng, 300)
    wrong = rng.permutation(300)
    half = truth.copy()
    half[:150] = rng.permutation(truth[:150])
    views = {metric: View.fit(metric, X, Y, 0) for metric in ("euclidean", "cosine")}
    solutions = [Solution("euclidean", indices, 1.0, 0.5, 32) for indices in (wrong, half, truth)]
    assert rank_solutions(solutions, views, Problem.check(X, Y, dense=False)) == solutions[::-1]
