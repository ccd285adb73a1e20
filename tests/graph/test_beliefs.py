"""Messages among candidates."""

import numpy as np
from scipy import sparse

from pairup.graph.beliefs import balance_messages, balance_pairs, link_candidates, renew
from pairup.graph.growth import weigh_evidence
from pairup.graph.links import list_links
from pairup.graph.messages import pass_messages


def make(rng, n=30, share=0.12):
    upper = np.triu(rng.random((n, n)) < share, 1)
    A = sparse.csr_array((upper | upper.T).astype(float))
    return A, list_links(A, directed=False, weighted=False)


def test_entries_are_the_pairs_of_linked_pairs_and_lead_back(rng):
    (A, a), (B, b) = make(rng), make(rng)
    partners = np.array([rng.permutation(30)[:4] for _ in range(30)], dtype=np.int32)
    partners[::3, 2:] = -1
    support = link_candidates(a, b, partners)
    there = [(i, j) for i in range(30) for j in partners[i] if j >= 0]
    A, B = A.toarray(), B.toarray()
    assert support.starts[-1] == sum(A[i, k] * B[j, at] for i, j in there for k, at in there)
    reverse = support.reverse
    assert np.array_equal(reverse[reverse], np.arange(len(reverse)))
    sources = np.repeat(np.arange(30), a.degrees), np.repeat(np.arange(30), b.degrees)
    assert np.array_equal(sources[0][support.a_links], a.nodes[support.a_links[reverse]])
    assert np.array_equal(sources[1][support.b_links], b.nodes[support.b_links[reverse]])
    assert np.array_equal(support.find(support, len(b.nodes)), np.arange(len(reverse)))


def test_probabilities_of_a_node_sum_to_one_at_most(rng):
    partners = np.array([rng.permutation(30)[:4] for _ in range(30)], dtype=np.int32)
    logs = 5 * rng.normal(size=(30, 4))
    logs[:, 0] += 15
    likely = balance_pairs(logs, partners, 30)
    sums = np.bincount(partners.ravel(), weights=likely.ravel(), minlength=30)
    assert likely.sum(axis=1).max() <= 1 + 1e-9
    assert sums.max() < 1.05
    assert balance_pairs(logs, partners, 30, 0.5).sum() < likely.sum()


def test_balanced_messages_have_means_of_one_at_most(rng):
    (_, a), (_, b) = make(rng), make(rng)
    partners = np.array([rng.permutation(30)[:6] for _ in range(30)], dtype=np.int32)
    support = link_candidates(a, b, partners)
    sizes = len(a.nodes), len(b.nodes)
    balanced = balance_messages(np.exp(3 * rng.normal(size=len(support.reverse))), support, sizes)
    sums = np.bincount(support.a_links, weights=balanced, minlength=sizes[0])
    assert sums.max() < 1.1 * max(sizes)


def test_candidates_that_are_all_pairs_say_what_dense_messages_say(rng):
    A, a = make(rng, n=40, share=0.1)
    n = 40
    partners = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    support = link_candidates(a, a, partners)
    evidence = weigh_evidence(a, a, 0.7, weighted=False)
    messages = np.ones(len(support.reverse))
    nobody = np.zeros(n), np.zeros(n)
    for _ in range(3):
        logs, said = renew(a, a, partners, support, messages, nobody, evidence)
        heard = np.empty(len(said))
        heard[support.reverse] = np.exp(np.clip(said, -20, 40))
        messages = balance_messages(heard, support, (len(a.nodes), len(a.nodes)))
    (dense,) = pass_messages(A, A, shared=0.7, rounds=3)
    linked = np.ix_(a.degrees > 0, a.degrees > 0)
    assert np.corrcoef(logs[linked].ravel(), dense[linked].ravel())[0, 1] > 0.6
    assert (logs.argmax(axis=1) == np.arange(n))[a.degrees > 1].mean() > 0.7
