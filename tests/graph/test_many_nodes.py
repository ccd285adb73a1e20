"""Graphs of many nodes, through the public call; here what is many is lowered."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import pairup
from pairup.cli import pairup_command
from pairup.climb import Step
from pairup.graph import problem, trees
from pairup.graph.many_nodes import weigh_kept
from pairup.graph.schedule import MANY

N = 300


@pytest.fixture(autouse=True)
def many_from_a_few_on(monkeypatch):
    monkeypatch.setattr(problem, "MANY", replace(MANY, above=10))
    monkeypatch.setattr(trees, "MANY", replace(MANY, hubs=80, deep_hubs=30))


def noisy_pair(rng, n=N, degree=6, lost=0.05, *, directed=False, weighted=False):
    """Two copies of a random graph that each lose some edges and gain as many, the second shuffled."""

    def copy():
        kept = parent & (rng.random((n, n)) >= lost)
        gained = ~parent & (rng.random((n, n)) < lost * degree / n)
        Z = np.where(kept | gained, weights * np.exp(0.1 * rng.normal(size=(n, n))) if weighted else 1.0, 0.0)
        np.fill_diagonal(Z, 0)
        return Z if directed else np.triu(Z) + np.triu(Z).T

    parent = rng.random((n, n)) < degree / n
    weights = rng.gamma(2.0, size=(n, n)) + 0.1
    A, B = copy(), copy()
    order = rng.permutation(n)
    return sparse.csr_array(A), sparse.csr_array(B[order][:, order]), np.argsort(order)


def test_noisy_copies_are_matched_and_called_reliable(rng):
    A, B, truth = noisy_pair(rng)
    m = pairup.match(A, B)
    right = m.indices == truth
    assert right.mean() > 0.9
    assert m.reliable
    assert abs(m.reliability - right.mean()) < 0.1
    assert "edges (unrelated graph of the same degrees: " in m.report
    assert sparse.issparse(m.probabilities)
    assert m.probabilities.nnz < 20 * N
    assert m.probabilities.sum(axis=1).max() < 1 + 1e-9
    assert np.allclose(m.probabilities[np.arange(N), m.indices], m.confidence)
    assert len(set(m.indices)) == N
    assert m == pairup.match(A, B)


def test_sparse_probabilities_are_listed_and_saved(rng, tmp_path):
    A, B, truth = noisy_pair(rng)
    m = pairup.match(A, B)
    partners, likely = m.candidates(3)
    assert (partners[:, 0] == truth).mean() > 0.9
    assert (np.diff(likely, axis=1) <= 0).all()
    m.save(tmp_path / "many.npz")
    again = pairup.Matching.load(tmp_path / "many.npz")
    assert again == m
    assert sparse.issparse(again.probabilities)
    assert next(m.rows())["x"] == 0


def test_unrelated_graphs_are_not_called_reliable(rng):
    A, B = (noisy_pair(rng)[0] for _ in range(2))
    m = pairup.match(A, B)
    assert m.reliable is False
    assert m.reliability < 0.1
    assert "unrelated graph of the same degrees" in m.verdict
    assert m.n_pairs == N


def test_directions_and_weights_are_used(rng):
    ring = np.roll(np.eye(60), 1, axis=1)
    for options in ({"directed": True, "degree": 4}, {"weighted": True}):
        A, B, truth = noisy_pair(rng, **options)
        m = pairup.match(A, B)
        assert (m.indices == truth).mean() > 0.9
        assert m.reliable
        told = "of the weight that can be" in m.report
        assert told == ("weighted" in options)
    assert weigh_kept(sparse.csr_array(ring), sparse.csr_array(ring), np.arange(60), directed=True) == 60


def test_a_part_of_a_graph_is_found_in_it(rng):
    A, B, truth = noisy_pair(rng)
    kept = np.sort(rng.permutation(N)[:240])
    m = pairup.match(A[kept][:, kept], B)
    assert m.n_pairs == 240
    assert (m.indices == truth[kept]).mean() > 0.8
    back = pairup.match(B, A[kept][:, kept])
    assert back.n_pairs == 240
    found = back.indices[truth[kept]]
    assert (found == np.arange(240)).mean() > 0.8


def test_overlap_drops_the_least_likely_pairs(rng):
    A, B, _ = noisy_pair(rng)
    m = pairup.match(A, B, overlap=0.5)
    assert m.n_pairs == N // 2
    assert m.confidence[m.indices >= 0].min() > 0.5
    assert (m.confidence[m.indices < 0] == 0).all()
    assert pairup.match(A, B, overlap="auto").n_pairs > 0.85 * N


def test_known_and_forbidden_pairs_bind(rng):
    A, B, truth = noisy_pair(rng)
    wrong = [(i, int(truth[i])) for i in range(0, N, 40)]
    known = [(1, int(truth[2])), (2, int(truth[1]))]
    m = pairup.match(A, B, forbidden=wrong, anchors=known)
    assert m.n_pairs == N
    assert not any(m.indices[i] == j for i, j in wrong)
    assert max(m.probabilities[i, j] for i, j in wrong) == 0.0
    assert m.indices[1:3].tolist() == [truth[2], truth[1]]
    assert m.confidence[1:3].tolist() == [1.0, 1.0]
    assert m.probabilities[1].nnz == 1
    with pytest.raises(ValueError, match="no y is left for x 0"):
        pairup.match(A, B, forbidden=[(0, j) for j in range(N)])
    assert pairup.match(A, B, forbidden=[(0, j) for j in range(N)], overlap="auto").indices[0] == -1


@pytest.mark.parametrize("is_sparse", [True, False])
def test_a_prior_tells_apart_what_the_edges_do_not(rng, is_sparse):
    ring = sparse.csr_array(np.roll(np.eye(N), 1, 0) + np.roll(np.eye(N), -1, 0))  # all nodes are alike
    prior = np.zeros((N, N))
    prior[np.arange(0, N, 5), np.arange(0, N, 5)] = 1.0
    m = pairup.match(ring, ring, prior=sparse.csr_array(prior) if is_sparse else prior, prior_weight=2.0)
    assert (m.indices == np.arange(N)).mean() > 0.9


def test_isolated_nodes_and_several_components_are_matched(rng):
    A, B, _ = noisy_pair(rng, n=200)
    G, H = (sparse.block_diag([Z, Z2, np.zeros((50, 50))], format="csr") for Z, Z2 in ((A, B), (B, A)))
    m = pairup.match(G, H)
    assert m.n_pairs == 450
    assert set(m.indices[400:]) <= set(np.flatnonzero(H.sum(axis=1) == 0))
    assert m.confidence[400:].max() < 0.2


def test_graphs_that_say_nothing_get_any_matching_and_a_reason():
    nothing, full = sparse.csr_array((30, 30)), sparse.csr_array(np.ones((30, 30)))
    m = pairup.match(nothing, full, anchors=[(0, 7)], forbidden=[(1, 1)])
    assert m.reliable is False
    assert "X has no edges, so nothing tells its nodes apart" in m.report
    assert m.n_pairs == 30
    assert m.indices[0] == 7
    assert m.indices[1] != 1


def test_steps_hold_matchings_and_can_be_left_at_any_time(rng):
    A, B, _ = noisy_pair(rng)
    steps = pairup.match_steps(A, B)
    first = next(steps)
    assert isinstance(first, Step)
    assert len(first.indices) == N
    chosen = first.indices[first.indices >= 0]
    assert len(set(chosen)) == len(chosen)
    steps.close()


def test_what_does_not_fit_into_memory_is_refused_before_work_starts(rng, monkeypatch):
    A, B, _ = noisy_pair(rng)
    monkeypatch.setattr(problem, "MANY", replace(MANY, above=10, bytes_per_node=2**46))
    with pytest.raises(MemoryError, match="300 objects need about"):
        pairup.match(A, B)


def test_edge_lists_are_matched_by_the_command(rng, tmp_path):
    A, B, truth = noisy_pair(rng)
    for name, Z in (("a", A), ("b", B)):
        u, v = sparse.triu(Z).tocoo().coords
        (tmp_path / f"{name}.edges").write_text("".join(f"{i} {k}\n" for i, k in zip(u, v, strict=True)))
    pairs = tmp_path / "pairs.csv"
    files = [str(tmp_path / f"{name}.edges") for name in "ab"]
    done = CliRunner().invoke(pairup_command, ["match", *files, "-o", str(pairs)])
    assert done.exit_code == 0
    rows = [line.split(",") for line in pairs.read_text().splitlines()[1:]]
    right = [truth[int(row[0])] == int(row[1]) for row in rows if row[1]]
    assert np.mean(right) > 0.9
