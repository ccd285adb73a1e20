import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, random_array

from pairup.probabilities import are_equal, are_known, average_partners, canonical, count_bytes, rank_partners


@pytest.fixture
def both(rng):
    """The same probabilities, sparse and dense."""
    P = csr_array(random_array((40, 30), density=0.2, rng=rng))
    return P, P.toarray()


def test_sparse_probabilities_rank_as_dense_ones_do(both):
    sparse, dense = both
    partners, likely = rank_partners(sparse, 4)
    expected, shares = rank_partners(dense, 4)
    np.testing.assert_array_equal(likely, shares)
    np.testing.assert_array_equal(partners[likely > 0], expected[likely > 0])
    assert (partners[likely == 0] == -1).all()
    assert rank_partners(sparse, 99)[0].shape == (40, 30)


def test_equally_likely_partners_keep_their_order():
    P = csr_array((np.full(3, 0.25), np.array([5, 1, 3]), np.array([0, 3])), shape=(1, 6))  # columns in any order
    assert rank_partners(P, 3)[0].tolist() == [[1, 3, 5]]


def test_means_of_sparse_probabilities_are_those_of_dense_ones(both, rng):
    sparse, dense = both
    Y, X = rng.normal(size=(30, 3)), rng.normal(size=(40, 2))
    np.testing.assert_allclose(average_partners(sparse, Y), average_partners(dense, Y))
    np.testing.assert_allclose(average_partners(sparse.T.tocsr(), X), average_partners(dense.T, X))


def test_equal_means_equal_entries(both):
    sparse, dense = both
    assert are_equal(sparse, dense)
    assert are_equal(dense, sparse)
    assert are_equal(sparse, coo_array(dense))
    assert not are_equal(sparse, 2 * sparse)
    assert not are_equal(sparse, np.empty(0))
    stored = csr_array((np.array([0.5, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert are_equal(stored, np.array([[0.5, 0.0]])), "a stored zero is no entry"
    assert not are_equal(csr_array((1, 2)), csr_array((2, 1)))


def test_the_canonical_form_has_each_pair_once_and_leaves_what_it_was_made_from():
    P = csr_array((np.array([0.5, 0.25, 0.25]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert canonical(P).toarray().tolist() == [[0.25, 0.75]]
    assert P.indices.tolist() == [1, 0, 1]


def test_what_is_known_and_how_large_it_is(both):
    sparse, dense = both
    assert are_known(sparse)
    assert are_known(csr_array((3, 3))), "no pair is likely, which is known"
    assert not are_known(np.empty(0))
    assert count_bytes(sparse) < count_bytes(dense) == 40 * 30 * 8
