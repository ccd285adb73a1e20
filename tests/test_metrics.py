import numpy as np
import pytest

from pairup.metrics import foscttm, match_accuracy


def test_accuracy_counts_equal_partners_as_right():
    Y = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
    assert match_accuracy([1, 0, 2], [0, 1, 2]) == pytest.approx(1 / 3)
    assert match_accuracy([1, 0, 2], [0, 1, 2], Y) == 1.0


def test_accuracy_of_objects_without_partner():
    assert match_accuracy([-1, 1, -1], [-1, 1, 2], [[0.0], [1.0], [2.0]]) == pytest.approx(2 / 3)


def test_accuracy_needs_one_shape():
    with pytest.raises(ValueError, match="must have one shape"):
        match_accuracy([0, 1], [0, 1, 2])


def test_foscttm_of_chance_is_a_half(rng):
    Y = rng.normal(size=(60, 3))
    values = [foscttm(rng.permutation(60), np.arange(60), Y) for _ in range(40)]
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)


def test_foscttm_agrees_with_its_definition(rng):
    Y = rng.normal(size=(15, 2))
    p, t = rng.permutation(15), rng.permutation(15)
    shares = []
    for i in range(15):
        distances = np.linalg.norm(Y[p] - Y[t[i]], axis=1)
        shares.append(sum(distances[k] < distances[i] for k in range(15) if k != i) / 14)
    assert foscttm(p, t, Y) == pytest.approx(np.mean(shares))


def test_foscttm_of_a_constant_plan_is_a_half():
    assert foscttm(np.zeros(10, dtype=int), np.arange(10), np.random.default_rng(0).normal(size=(10, 2))) == 0.5
