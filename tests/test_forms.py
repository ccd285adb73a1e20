from dataclasses import replace

import numpy as np
import pytest

from pairup.constraints import Constraints
from pairup.density_ratio import Subspace
from pairup.forms import DenseForm, LowRankForm, alignment, combine_dense, exclude_self, paired_product
from pairup.kernels import gaussian, median_width


@pytest.fixture
def low_rank(rng):
    """Three kernels of rank 3 beside three of rank 4, their diagonals proportional, and the dense forms of them."""
    A, B = rng.normal(size=(12, 3)).astype(np.float32), rng.normal(size=(9, 4)).astype(np.float32)
    S, T = (rng.random((3, 1, 1)) * (Z + Z.T) for Z in (rng.normal(size=(r, r)) for r in (3, 4)))
    S, T = S.astype(np.float32), T.astype(np.float32)
    dense = [DenseForm(exclude_self(A @ s @ A.T), exclude_self(B @ t @ B.T)) for s, t in zip(S, T, strict=True)]
    return LowRankForm(A, S, B, T), dense


def test_a_low_rank_form_is_the_sum_of_the_dense_ones(low_rank, rng):
    form, dense = low_rank
    plan = rng.random((12, 9)).astype(np.float32)
    np.testing.assert_allclose(form.profit(plan), sum(d.profit(plan) for d in dense), rtol=1e-3, atol=1e-2)


def test_a_low_rank_form_may_keep_its_diagonals_in_the_profit(low_rank, rng):
    form, _ = low_rank
    plan = rng.random((12, 9)).astype(np.float32)
    whole = sum(form.A @ s @ form.A.T @ plan @ form.B @ t @ form.B.T for s, t in zip(form.S, form.T, strict=True))
    kept = replace(form, excludes_self=False)
    np.testing.assert_allclose(kept.profit(plan), whole, rtol=1e-3, atol=1e-2)
    matching = rng.permutation(12) % 9
    matching[9:] = -1
    assert kept.value(matching) == form.value(matching)


@pytest.mark.parametrize("unmatched", [[], [4, 7]])
def test_the_value_of_a_form_is_that_of_its_profit(low_rank, rng, unmatched):
    form, dense = low_rank
    indices = np.r_[rng.permutation(9), -1, -1, -1]
    indices[unmatched] = -1
    plan = Constraints(12, 9, 9).hard(indices)
    for each in (form, *dense):
        assert each.value(indices) == pytest.approx(float(np.vdot(each.profit(plan), plan)), rel=1e-3, abs=1e-2)


def test_the_profit_of_real_kernels_hardly_knows_their_directions_to_be_shared(rng):
    X = rng.normal(size=(300, 4))
    sides = []
    for Z in (X, np.tanh(X)):
        kernels = [gaussian(Z, width=c * median_width(Z)).astype(np.float32) for c in (0.7, 1.0, 2.0)]
        sides.append(Subspace.from_kernels(kernels, 300).whiten(0.1, [0, 1, 2]))
    (A, S), (B, T) = sides
    dense = [DenseForm(exclude_self(A @ s @ A.T), exclude_self(B @ t @ B.T)) for s, t in zip(S, T, strict=True)]
    plan = Constraints(300, 300, 300).warm_start(rng.permutation(300))
    expected = sum(form.profit(plan) for form in dense)
    assert np.abs(LowRankForm(A, S, B, T).profit(plan) - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("n", [50, 203])
def test_paired_products_are_those_of_aligned_matrices(rng, n):
    K, L = (rng.normal(size=(n, n)).astype(np.float32) for _ in range(2))
    p = rng.permutation(n)
    assert paired_product(K, L, p) == pytest.approx(float(np.vdot(K, L[p][:, p])), rel=1e-3, abs=0.1)
    some = np.where(np.arange(n) % 5 == 0, -1, p)
    i = np.flatnonzero(some >= 0)
    assert paired_product(K, L, some) == pytest.approx(float(np.vdot(K[i][:, i], L[p[i]][:, p[i]])), rel=1e-3, abs=0.1)


def test_the_alignment_of_a_kernel_with_itself_is_one(rng):
    K = exclude_self(gaussian(rng.normal(size=(20, 3)), width=1.0)).astype(np.float32)
    K /= np.linalg.norm(K)
    p = rng.permutation(20)
    forms = [DenseForm(K, K[p][:, p])]
    assert alignment(forms, np.argsort(p)) == pytest.approx(1.0, rel=1e-5)
    assert alignment(forms, rng.permutation(20)) < 0.9


@pytest.mark.parametrize(("spread", "fewest", "most"), [(0.0, 1, 1), (0.1, 1, 3), (5.0, 4, 4)])
def test_combined_forms_have_the_mean_of_all(rng, spread, fewest, most):
    """Matrices that are alike share a form; those that are not are left as they are."""
    first = rng.normal(size=(2, 30, 30))
    K, L = ([exclude_self(M + spread * rng.normal(size=M.shape)).astype(np.float32) for _ in range(4)] for M in first)
    apart, together = [DenseForm(*pair) for pair in zip(K, L, strict=True)], combine_dense(K, L)
    assert fewest <= len(together) <= most
    plan, indices = rng.random((30, 30)).astype(np.float32), rng.permutation(30)
    of_all, of_fewer = (np.mean([form.profit(plan) for form in forms], axis=0) for forms in (apart, together))
    assert np.linalg.norm(of_all - of_fewer) <= 0.1 * np.linalg.norm(of_all)
    scale = float(np.mean([np.linalg.norm(form.K) * np.linalg.norm(form.L) for form in apart]))
    assert alignment(together, indices) == pytest.approx(alignment(apart, indices), abs=0.02 * scale)
