"""From sampled matchings to the answer."""

import numpy as np
from scipy import sparse

from pairup.graph.answer import conclude, measure_excess, undecided_answer
from pairup.graph.problem import GraphProblem, pad


def make_problem(rng, n=30, **options):
    upper = np.triu(rng.random((n, n)) < 0.2, 1)
    A = sparse.csr_array((upper | upper.T).astype(float))
    return GraphProblem.check(A, A, **options)


def test_all_edges_kept_and_sharp_samples_are_reliable(rng):
    problem = make_problem(rng)
    padded = pad(problem)
    answer = conclude(problem, padded, np.eye(30), padded.A.nnz // 4, [])
    assert answer.reliable
    assert answer.indices.tolist() == list(range(30))
    assert answer.excess == 1.0
    assert answer.reliability > 0.9


def test_no_more_edges_than_with_an_unrelated_graph_is_not_reliable(rng):
    problem = make_problem(rng)
    answer = conclude(problem, pad(problem), np.full((30, 30), 1 / 30), 10**6, [])
    assert not answer.reliable
    assert answer.reliability < 0.1
    assert "hardly more edges are kept" in answer.report


def test_forbidden_and_known_pairs_have_probability_0_and_1(rng):
    problem = make_problem(rng, anchors=[(1, 2)], forbidden=[(0, 0)])
    answer = conclude(problem, pad(problem), np.eye(30), 3, [])
    assert answer.probabilities[0, 0] == 0.0
    assert answer.probabilities[1].tolist() == [0, 0, 1] + [0] * 27
    assert answer.indices[1] == 2
    assert answer.indices[0] != 0


def test_the_excess_runs_from_unrelated_to_all(rng):
    padded = pad(make_problem(rng))
    edges = padded.A.nnz // 2
    assert measure_excess(padded, edges, 10) == 1.0
    assert measure_excess(padded, 10, 10) == 0.0


def test_an_undecided_answer_spreads_its_probability(rng):
    answer = undecided_answer(make_problem(rng, forbidden=[(0, 0)]), "nothing is known")
    assert answer.probabilities[0, 0] == 0.0
    assert np.allclose(answer.probabilities.sum(axis=1), 1.0)
    assert answer.report.endswith("nothing is known.")
