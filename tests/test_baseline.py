import numpy as np
import pytest

import pairup
from pairup import KSHSIC, KSNOCCO, LSOM
from pairup.baseline import DRAWS, compare_steps, draw_unrelated, held_out_dependence, is_one_dimensional
from pairup.climb import Step
from pairup.datasets import shuffle_pair
from pairup.evidence import Evidence


def related(seed, n=50):
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return shuffle_pair(Z, Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T, seed)


def compare(X, Y, indices, matcher=None, seed=0):
    *steps, evidence = compare_steps(X, Y, indices, matcher or KSNOCCO(), seed=seed)
    assert steps
    assert all(isinstance(step, Step) for step in steps)
    assert isinstance(evidence, Evidence)
    return evidence


def test_the_truth_is_beyond_chance_and_a_random_pairing_is_not(rng):
    X, Y, truth = related(0)
    evidence = compare(X, Y, truth)
    assert evidence.is_beyond_chance
    assert evidence.found > 2 * evidence.unrelated > 0 > evidence.shuffled
    shuffled = compare(X, Y, rng.permutation(50))
    assert not shuffled.is_beyond_chance
    assert (shuffled.shuffled, shuffled.unrelated) == (evidence.shuffled, evidence.unrelated)


@pytest.mark.parametrize(("d", "e", "n"), [(3, 4, 40), (3, 1, 40), (20, 20, 60)])
@pytest.mark.parametrize("matcher", [KSHSIC(), LSOM(widths=(1.0, 2.0), lambdas=(0.01,), n_starts=4)])
def test_what_a_search_finds_in_noise_is_dependent_but_not_beyond_chance(matcher, d, e, n):
    """A search makes noise dependent: only unrelated sets, not shuffled pairs, can tell that it is noise."""
    believed = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, e))
        evidence = compare(X, Y, matcher.fit_predict(X, Y), matcher)
        assert evidence.found > evidence.shuffled + 0.1
        believed += evidence.is_beyond_chance
    assert believed <= 1


def test_unrelated_sets_are_searched_by_the_same_method_too():
    """LSOM makes noise of many columns more dependent than KS-NOCCO does, which alone would be no fair comparison."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 20)), rng.normal(size=(60, 20))
    lsom = LSOM(widths=(1.0, 2.0), lambdas=(0.01,), n_starts=3).fit(X, Y)
    by_itself = compare(X, Y, lsom.assignment_, lsom)
    by_nocco = compare(X, Y, lsom.assignment_, KSNOCCO())
    assert by_itself.found == by_nocco.found
    assert by_itself.unrelated > 1.3 * by_nocco.unrelated


@pytest.mark.parametrize(("n", "draws"), [(12, DRAWS[0][1]), (40, DRAWS[1][1]), (210, 1)])
def test_few_objects_are_compared_with_more_unrelated_sets(n, draws):
    X, Y, truth = related(2, n=n)
    assert compare(X, Y, truth, KSHSIC(n_starts=1)).draws == draws


def test_held_out_dependence_is_blind_to_the_order_of_rows(rng):
    X, Y, truth = related(1)
    order = rng.permutation(50)
    first, again = (held_out_dependence(A, Y, [p])[0] for A, p in ((X, truth), (X[order], truth[order])))
    assert first == pytest.approx(again, rel=1e-3)


def test_narrow_kernels_see_fine_agreement(rng):
    """Of a long curve the widest kernel sees the coarse order only; the score is that of the best width."""
    x = np.sort(rng.uniform(0, 1, size=(80, 1)), axis=0)
    fine, coarse = np.arange(80), np.arange(80).reshape(-1, 2)[:, ::-1].ravel()
    both = held_out_dependence(x, x**2, [fine, coarse])
    assert both[0] > both[1] + 0.1


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
    evidence = compare(X, Y, np.arange(n))
    assert np.isfinite([evidence.found, evidence.shuffled, evidence.unrelated]).all()


@pytest.mark.parametrize("turned", [False, True])
def test_a_set_of_one_column_is_compared_with_unrelated_sets_like_the_other(rng, turned):
    """To shuffle the only column is to reorder it: a draw of it would be the same set, as dependent as can be."""
    X = rng.normal(size=(40, 3)) * [5, 4, 3]
    Y = X[:, :1] ** 3
    sets = (Y, X) if turned else (X, Y)
    evidence = compare(*sets, np.arange(40))
    reordered = held_out_dependence(*sets, [KSNOCCO(n_starts=3).fit_predict(*sets)])[0]
    assert evidence.unrelated != pytest.approx(reordered, rel=0.05)
    assert not evidence.sortable


def test_two_sets_of_one_dimension_are_never_believed(rng):
    x = rng.gamma(2.0, size=(40, 1))
    assert is_one_dimensional(x @ [[1.0, 2.0]])
    one = pairup.match(x, x**2, method="ks-nocco")
    assert one.reliable is False
    assert one.evidence.sortable
    assert "any two sets of one dimension can be sorted against each other" in one.report


@pytest.mark.parametrize("scale", [1e-154, 1.0, 1e150])
def test_units_do_not_matter(scale):
    X, Y, truth = related(3)
    evidence = compare(scale * X, Y, truth, KSHSIC(n_starts=2))
    assert evidence.found == pytest.approx(compare(X, Y, truth, KSHSIC(n_starts=2)).found, rel=1e-3)
