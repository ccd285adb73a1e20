"""Whole matchings of graphs, through the public call."""

import numpy as np
import pytest
from scipy import sparse

import pairup
from pairup.climb import Step


def noisy_pair(rng, n=80, degree=6, noise=0.05, *, directed=False):
    """Two copies of a random graph that each lose some edges and gain as many, one of them shuffled."""

    def copy(parent):
        kept = parent & (rng.random((n, n)) >= noise)
        gained = ~parent & (rng.random((n, n)) < noise * degree / n)
        Z = (kept | gained).astype(float)
        return np.where(np.eye(n) > 0, 0, Z) if directed else np.triu(Z, 1) + np.triu(Z, 1).T

    parent = rng.random((n, n)) < degree / n
    A, B = copy(parent), copy(parent)
    order = rng.permutation(n)
    return sparse.csr_array(A), sparse.csr_array(B[np.ix_(order, order)]), np.argsort(order)


def test_related_graphs_are_matched_and_called_reliable(rng):
    A, B, truth = noisy_pair(rng)
    m = pairup.match(A, B)
    right = m.indices == truth
    assert right.mean() > 0.85
    assert m.reliable
    assert abs(m.reliability - right.mean()) < 0.15
    assert "edges (unrelated graph of the same degrees: " in m.report
    assert m.probabilities.shape == (80, 80)
    assert m.probabilities.sum(axis=1).max() < 1 + 1e-9
    assert m == pairup.match(A, B)


def test_unrelated_graphs_are_not_called_reliable(rng):
    A, B = (noisy_pair(rng)[0] for _ in range(2))
    m = pairup.match(A, B)
    assert m.reliable is False
    assert m.reliability < 0.3
    assert "unrelated graph of the same degrees" in m.verdict


def test_unequal_sizes_leave_nodes_without_a_partner(rng):
    A, B, truth = noisy_pair(rng)
    gone = truth[:8]
    kept = np.setdiff1d(np.arange(80), gone)
    m = pairup.match(A, B[kept][:, kept])
    assert m.n_pairs == 72
    number = np.full(80, -1)
    number[kept] = np.arange(72)
    assert (m.indices == number[truth])[8:].mean() > 0.8
    back = pairup.match(B[kept][:, kept], A)
    assert back.n_pairs == 72
    assert (truth[back.indices] == kept).mean() > 0.8


def test_overlap_drops_the_least_likely_pairs(rng):
    A, B, _ = noisy_pair(rng)
    m = pairup.match(A, B, overlap=0.5)
    assert m.n_pairs == 40
    assert m.confidence[m.indices >= 0].min() > 0
    assert pairup.match(A, B, overlap="auto").n_pairs <= 80


def test_directed_weighted_graphs_use_directions_and_weights(rng):
    A, B, truth = noisy_pair(rng, degree=4, directed=True)
    m = pairup.match(A, B)
    assert (m.indices == truth).mean() > 0.85
    ring = sparse.csr_array(np.roll(np.diag(rng.random(30) + 0.5), 1, axis=1))
    order = rng.permutation(30)
    shuffled = sparse.csr_array(ring.toarray()[np.ix_(order, order)])
    m = pairup.match(ring, shuffled)  # all nodes are alike but for the weights
    assert (order[m.indices] == np.arange(30)).mean() > 0.9


def test_known_pairs_and_a_prior_decide_between_mirror_images(rng):
    n = 12
    line = sparse.csr_array(np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    m = pairup.match(line, line, anchors=[(0, n - 1)])
    assert m.indices.tolist() == list(range(n))[::-1]
    assert m.confidence[0] == 1.0
    prior = np.zeros((n, n))
    prior[0, 0] = 1.0
    m = pairup.match(line, line, prior=prior, prior_weight=3.0)
    assert m.indices.tolist() == list(range(n))


def test_self_loops_count_as_edges(rng):
    n = 10
    ring = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)
    A, B = ring.copy(), ring.copy()
    A[3, 3] = B[7, 7] = 1.0
    m = pairup.match(sparse.csr_array(A), sparse.csr_array(B))
    assert m.indices[3] == 7
    assert "keeps 11 of 11 edges" in m.report


def test_graphs_of_self_loops_alone_are_matched_by_them():
    A, B = np.zeros((6, 6)), np.zeros((6, 6))
    A[[1, 4], [1, 4]] = B[[0, 5], [0, 5]] = 1.0
    m = pairup.match(sparse.csr_array(A), sparse.csr_array(B))
    assert set(m.indices[[1, 4]]) == {0, 5}
    assert m.reliable is False


@pytest.mark.parametrize(("by_x", "by_y"), [(1e300, 1e-300), (-1.0, -1.0), (True, np.int8(1))])
def test_units_and_a_common_sign_of_weights_change_nothing(rng, by_x, by_y):
    A, B, truth = noisy_pair(rng, n=40)
    m = pairup.match(A * by_x, B * by_y)
    assert (m.indices == truth).mean() > 0.8
    assert m.reliable


def test_a_disconnected_graph_is_matched_part_by_part(rng):
    parts = [noisy_pair(rng, n=30, noise=0.0) for _ in range(2)]
    A, B = (sparse.block_diag([part[side] for part in parts], format="csr") for side in (0, 1))
    truth = np.concatenate([parts[0][2], parts[1][2] + 30])
    assert (pairup.match(A, B).indices == truth).mean() > 0.85


def test_equivalent_leaves_share_their_probability():
    star = np.zeros((9, 9))
    star[0, 1:] = star[1:, 0] = 1
    m = pairup.match(sparse.csr_array(star), sparse.csr_array(star))
    assert m.indices[0] == 0
    assert m.confidence[1:].max() < 0.3


def test_nodes_keep_their_names():
    networkx = pytest.importorskip("networkx")
    G = networkx.karate_club_graph()
    H = networkx.relabel_nodes(G, {node: f"member {node}" for node in G})
    m = pairup.match(G, H)
    assert m.names[1][0] == "member 0"
    row = next(m.rows())
    assert row["x"] == 0
    assert str(row["y"]).startswith("member ")


@pytest.mark.parametrize(
    ("G", "H", "reason"),
    [
        (np.zeros((5, 5)), np.ones((5, 5)), "X has no edges, so nothing tells its nodes apart"),
        (np.ones((1, 1)), np.ones((5, 5)), "X has 1 node, and at least 4 are needed"),
    ],
)
def test_graphs_that_say_nothing_get_any_matching_and_a_reason(G, H, reason):
    m = pairup.match(sparse.csr_array(G), sparse.csr_array(H))
    assert m.reliable is False
    assert reason in m.report
    assert m.n_pairs == min(len(G), len(H))


def test_isolated_nodes_and_several_components_are_matched(rng):
    A = sparse.block_diag([np.ones((4, 4)) - np.eye(4), np.ones((3, 3)) - np.eye(3), np.zeros((2, 2))], format="csr")
    m = pairup.match(A, A)
    assert set(m.indices[:4]) == {0, 1, 2, 3}
    assert set(m.indices[7:]) == {7, 8}


def test_options_for_tables_are_refused(rng):
    A, B, _ = noisy_pair(rng, n=10)
    for options, message in (
        ({"metric": "cosine"}, "metric='cosine' is for tables, got two graphs"),
        ({"kernel": "precomputed"}, "kernel='precomputed' is for tables"),
        ({"method": "lsom"}, "graphs are matched by method='auto' only, got method='lsom'"),
        ({"prior_weight": 2.0}, "prior_weight must come with a prior"),
        ({"anchors": [(0, 99)]}, "out of range"),
    ):
        with pytest.raises(ValueError, match=message):
            pairup.match(A, B, **options)
    with pytest.raises(ValueError, match="X is a graph and Y is a table"):
        pairup.match(A, np.ones((10, 2)))


def test_steps_come_before_the_matching_and_hold_matchings(rng):
    A, B, _ = noisy_pair(rng, n=30)
    *steps, last = pairup.match_steps(A, B)
    assert isinstance(last, pairup.Matching)
    assert steps
    assert all(isinstance(step, Step) for step in steps)


def test_forbidden_pairs_are_in_no_answer(rng):
    n = 12
    line = sparse.csr_array(np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    m = pairup.match(line, line, forbidden=[(0, 0)])
    assert m.indices.tolist() == list(range(n))[::-1]  # one end forbidden leaves the mirror image
    assert m.probabilities[0, 0] == 0.0
    A, B, truth = noisy_pair(rng)
    wrong = [(i, int(truth[i])) for i in range(0, 80, 4)]
    m = pairup.match(A, B, forbidden=wrong)
    assert not any(m.indices[i] == j for i, j in wrong)
    assert max(m.probabilities[i, j] for i, j in wrong) == 0.0
    assert m.n_pairs == 80


def test_nodes_for_which_all_partners_are_forbidden_stay_alone(rng):
    A, B, _ = noisy_pair(rng, n=20)
    forbidden = [(0, j) for j in range(20)]
    with pytest.raises(ValueError, match="no y is left for x 0"):
        pairup.match(A, B, forbidden=forbidden)
    for overlap in (0.95, "auto"):
        m = pairup.match(A, B, forbidden=forbidden, overlap=overlap)
        assert m.indices[0] == -1
    with pytest.raises(ValueError, match="among the anchors and forbidden too"):
        pairup.match(A, B, anchors=[(1, 2)], forbidden=[(1, 2)])


def test_complete_weighted_graphs_are_reliable_if_and_only_if_they_are_related(rng):
    n = 30
    first, second, noise = (np.triu(rng.random((n, n)), 1) for _ in range(3))
    order = rng.permutation(n)
    noisy = (first + first.T + 0.3 * (noise + noise.T))[order][:, order]
    m = pairup.match(sparse.csr_array(first + first.T), sparse.csr_array(noisy))
    assert m.reliable
    assert (order[m.indices] == np.arange(n)).mean() > 0.9
    assert "of the weight that can be" in m.report
    m = pairup.match(sparse.csr_array(first + first.T), sparse.csr_array(second + second.T))
    assert not m.reliable
    assert m.reliability < 0.3
