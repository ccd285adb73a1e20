import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from pairup.components import decorrelate, principal_components, standardize


@pytest.fixture(params=["svd", "gram"])
def solver(request):
    """How tall tables are decomposed: by singular values, and by the Gram matrix."""
    return request.param


def centred(rng, shape):
    Z = rng.normal(size=shape) * np.linspace(3, 0.5, shape[1])
    return Z - Z.mean(axis=0)


@pytest.mark.parametrize("shape", [(50, 6), (6, 50), (9, 9)])
def test_they_agree_with_the_singular_value_decomposition(shape, rng, solver):
    Z = centred(rng, shape)
    U, variances = principal_components(Z, solver=solver)
    u, s, _ = np.linalg.svd(Z, full_matrices=False)
    k = len(variances)
    assert k == np.linalg.matrix_rank(Z)
    np.testing.assert_allclose(variances, s[:k] ** 2)
    np.testing.assert_allclose(np.abs((U * u[:, :k]).sum(axis=0)), 1)  # equal up to the sign


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)])
def test_they_agree_with_scikit_learn(shape, rng, solver):
    Z = centred(rng, shape)
    U, variances = principal_components(Z, solver=solver)
    peer = PCA(n_components=len(variances)).fit(Z)
    np.testing.assert_allclose(variances / (len(Z) - 1), peer.explained_variance_)
    np.testing.assert_allclose(np.abs(U * np.sqrt(variances)), np.abs(peer.transform(Z)), atol=1e-8)


@pytest.mark.parametrize("shape", [(50, 6), (6, 50)])
def test_components_are_orthonormal_and_keep_distances(shape, rng, solver):
    Z = centred(rng, shape)
    U, variances = principal_components(Z, solver=solver)
    np.testing.assert_allclose(U.T @ U, np.eye(len(variances)), atol=1e-10)
    np.testing.assert_allclose(pdist(U * np.sqrt(variances)), pdist(Z))


def test_columns_without_variance_are_left_out(rng, solver):
    Z = centred(rng, (40, 2)) @ rng.normal(size=(2, 5))
    U, variances = principal_components(Z, solver=solver)
    assert U.shape == (40, 2)
    assert len(variances) == 2


def test_a_table_of_zeros_has_one_component_without_variance(solver):
    U, variances = principal_components(np.zeros((7, 3)), solver=solver)
    assert U.shape == (7, 1)
    assert np.isfinite(U).all()
    assert variances.tolist() == [0.0]


def test_standardized_columns_have_mean_zero_and_deviation_one(rng):
    scores = standardize(rng.gamma(2.0, size=(40, 3)) * [1.0, 1e6, 1e-6])
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(scores.std(axis=0), 1)


def test_decorrelated_columns_are_orthonormal_and_near(rng):
    Z = np.linalg.qr(rng.normal(size=(50, 4)))[0] + 0.05 * rng.normal(size=(50, 4))
    W = decorrelate(Z)
    np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-9)
    U, _, Vt = np.linalg.svd(Z, full_matrices=False)
    np.testing.assert_allclose(W, U @ Vt, atol=1e-9)  # the orthogonal factor of the polar decomposition
