"""Two graphs, checked, and as graphs of one size."""

import numpy as np
import pytest
from scipy import sparse

from pairup.graph.problem import NEVER, GraphProblem, pad


def chain(n, weight=1.0):
    return sparse.csr_array(np.diag(np.full(n - 1, weight), 1))


def test_padding_adds_isolated_nodes_and_scales_weights():
    padded = pad(GraphProblem.check(chain(5, 3.0), chain(4, 2.0)))
    assert padded.A.shape == padded.B.shape == (5, 5)
    assert set(padded.A.data) == set(padded.B.data) == {1.0}


def test_forbidden_pairs_that_leave_nodes_alone_add_nodes_to_both():
    forbidden = [(0, j) for j in range(5)]
    padded = pad(GraphProblem.check(chain(5), chain(5), forbidden=forbidden, overlap=0.8))
    assert padded.A.shape == padded.B.shape == (6, 6)
    assert padded.score_pairs().shape == (6, 6)
    assert (padded.score_pairs()[0, :5] == NEVER).all()
    assert padded.score_pairs()[0, 5] == 0.0


def test_single_pairs_are_alike_without_prior_and_forbidden_pairs():
    assert pad(GraphProblem.check(chain(5), chain(5))).score_pairs().shape == (0, 0)


def test_the_prior_counts_in_edges():
    prior = np.zeros((5, 5))
    prior[0, 0] = 1.0
    padded = pad(GraphProblem.check(chain(5), chain(5), prior=prior, prior_weight=2.0))
    scores = padded.score_pairs(3.0)
    assert np.argmax(scores) == 0
    assert np.allclose(scores, 3.0 * padded.constraints.prior)


@pytest.mark.parametrize("p", [np.arange(5), np.arange(5)[::-1]])
def test_edges_are_counted_in_their_direction(p):
    padded = pad(GraphProblem.check(chain(5), chain(5)))
    assert padded.count_kept(p) == (4 if p[0] == 0 else 0)
    assert padded.value(p) == padded.count_kept(p)


def test_the_weight_kept_is_the_number_of_edges_where_all_weigh_the_same(rng):
    upper = np.triu(rng.random((20, 20)) < 0.3)
    A = sparse.csr_array((upper | upper.T).astype(float))
    padded = pad(GraphProblem.check(A, A))
    p = rng.permutation(20)
    assert not padded.weighted
    assert padded.weigh_kept(p) == pytest.approx(padded.count_kept(p))
    assert pad(GraphProblem.check(-A, A)).weighted
