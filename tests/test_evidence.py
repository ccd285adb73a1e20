import numpy as np
import pytest

import pairup
from pairup.datasets import shuffle_pair
from pairup.evidence import Evidence, draw_unrelated, gather_steps, held_out_dependence
from pairup.kernels import KernelFamily


def related(seed, n=50):
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return shuffle_pair(Z, Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T, seed)


def gather(X, Y, indices):
    *steps, evidence = gather_steps(X, Y, indices, seed=0)
    assert steps
    assert set(steps) == {None}
    return evidence


def test_the_truth_is_beyond_chance_and_a_random_pairing_is_not(rng):
    X, Y, truth = related(0)
    evidence = gather(X, Y, truth)
    assert evidence.is_beyond_chance
    assert evidence.found > 2 * evidence.unrelated > 0 > evidence.shuffled
    shuffled = gather(X, Y, rng.permutation(50))
    assert not shuffled.is_beyond_chance
    assert shuffled.shuffled == evidence.shuffled
    assert shuffled.unrelated == evidence.unrelated


def test_what_a_search_finds_in_noise_is_dependent_but_not_beyond_chance():
    """A search makes noise dependent: only unrelated sets, not shuffled pairs, can tell that it is noise."""
    believed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 4))
        evidence = gather(X, Y, pairup.KSHSIC().fit_predict(X, Y))
        assert evidence.found > 1 > evidence.shuffled + 1
        believed += evidence.is_beyond_chance
    assert believed <= 1


def test_held_out_dependence_is_blind_to_the_order_of_rows(rng):
    X, Y, truth = related(1)
    order = rng.permutation(50)
    first, again = (
        held_out_dependence(KernelFamily(A), KernelFamily(Y), [p])[0] for A, p in ((X, truth), (X[order], truth[order]))
    )
    assert first == pytest.approx(again, rel=1e-3)


def test_unrelated_sets_keep_the_variances_and_lose_the_relations():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, 200)
    Y = np.column_stack([3 * np.cos(t), 2 * np.sin(t), t - 3])  # a curve
    Z = draw_unrelated(Y, rng)
    moments = [np.sort(np.linalg.eigvalsh(np.cov(S.T)))[-3:] for S in (Y, Z)]
    np.testing.assert_allclose(*moments, rtol=1e-6)
    near = [np.sort(np.linalg.norm(S[:, None] - S, axis=-1), axis=1)[:, 1].mean() for S in (Y, Z)]
    assert near[1] > 3 * near[0], "the neighbours along the curve are gone"


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_sets_have_evidence_too(rng, n):
    X, Y = rng.normal(size=(n, 2)), rng.normal(size=(n, 30))
    evidence = gather(X, Y, np.arange(n))
    assert np.isfinite([evidence.found, evidence.shuffled, evidence.unrelated]).all()


def test_a_set_of_one_column_is_compared_with_unrelated_sets_like_the_other(rng):
    X = rng.gamma(2.0, size=(40, 3)) * [5, 1, 0.5]
    Y = X[:, :1] ** 2
    truth = np.arange(40)
    assert gather(X, Y, truth).unrelated != gather(X, Y, truth).found
    one = pairup.match(X[:, :1], Y, method="ks-nocco")
    assert one.reliable is False
    assert "any two sets of one dimension can be sorted against each other" in one.report


def test_the_words_hold_the_three_scores():
    assert str(Evidence(7.77, -0.11, 6.05)) == (
        "Held-out score 7.77 (shuffled pairs: -0.11; unrelated sets, matched by KS-NOCCO: 6.05)."
    )
