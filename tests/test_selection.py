import numpy as np
import pytest

from pairup.kernels import KernelFamily
from pairup.measures import align
from pairup.selection import RatioGrid, best_setting, fold_numbers


def naive_score(K, L, folds, fold, lam):
    """−J of one setting, written out from the formulas: all samples are centres, the columns are the samples."""
    train, test = folds != fold, folds == fold
    n, m = train.sum(), test.sum()
    H = (K[:, train] @ K[:, train].T) * (L[:, train] @ L[:, train].T) / n**2
    h = (K[:, train] * L[:, train]).sum(axis=1) / n
    alpha = np.linalg.solve(H + lam * np.eye(len(K)), h)
    ratio = np.array([[sum(alpha * K[:, i] * L[:, j]) for j in np.flatnonzero(test)] for i in np.flatnonzero(test)])
    return -(0.5 * (ratio**2).mean() - np.trace(ratio) / m)


@pytest.mark.parametrize("cv", [2, 3])
def test_held_out_scores_agree_with_the_formula(rng, cv):
    X, Y = rng.normal(size=(14, 2)), rng.normal(size=(14, 1))
    x, y = KernelFamily(X), KernelFamily(Y)
    p = rng.permutation(14)
    folds = fold_numbers(14, cv, 0)
    scores = RatioGrid((x, y), widths=(1.0, 2.0), lambdas=(0.1, 0.01), folds=folds).scores(p)
    for w, c in enumerate((1.0, 2.0)):
        for j, lam in enumerate((0.1, 0.01)):
            for fold in range(cv):
                expected = naive_score(x.matrix(c), align(y.matrix(c), p), folds, fold, lam)
                assert scores[w, j, fold] == pytest.approx(expected, rel=1e-7)


def test_folds_are_even_and_seeded():
    folds = fold_numbers(11, 2, 5)
    assert sorted(np.bincount(folds)) == [5, 6]
    np.testing.assert_array_equal(folds, fold_numbers(11, 2, 5))


def test_the_true_pairing_scores_better_than_shuffled_ones(rng):
    X = rng.uniform(-1, 1, size=(60, 1))
    Y = X**2 + 0.05 * rng.normal(size=(60, 1))
    grid = RatioGrid((KernelFamily(X), KernelFamily(Y)), folds=fold_numbers(60, 2, 0))
    true = grid.scores(np.arange(60)).mean(axis=2).max()
    shuffled = [grid.scores(rng.permutation(60)).mean(axis=2).max() for _ in range(5)]
    assert true > max(shuffled) + 0.1


def test_best_setting_is_the_place_of_the_best_mean():
    scores = np.zeros((3, 2, 2))
    scores[1, 1] = (5.0, 1.0)
    scores[2, 0] = (2.0, 3.0)
    assert best_setting(scores) == (1, 1)
