from dataclasses import replace

import numpy as np
import pytest

import pairup
import pairup.auto.search as search_module
from pairup.auto.consensus import Consensus
from pairup.auto.geometry import Geometry
from pairup.auto.metrics import table_geometries
from pairup.auto.problem import Context, Problem
from pairup.auto.schedule import MANY_OBJECTS
from pairup.auto.search import Candidate, CoarseResult
from pairup.auto.solver import (
    eigenfunction_pair,
    estimate_pairs,
    expect_partners,
    is_clearly_better,
    is_found_alone,
    search,
    settle_unless_worse,
    solve,
    weight_prior,
)
from pairup.constraints import Constraints
from pairup.datasets import shuffle_pair
from pairup.metrics import foscttm


def rolled_sheet(seed):
    """A sheet, denser at one corner, rolled up in space: what is coarse leads astray."""
    rng = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(50) ** 1.3), 21 * rng.random(50) ** 1.5
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return shuffle_pair(np.c_[t * np.cos(t), h, t * np.sin(t)], np.c_[arc, h], random_state=seed)


def test_known_pairs_breed_only_where_the_data_alone_do(rng, skewed, monkeypatch):
    calls = []
    monkeypatch.setattr("pairup.auto.stages.breed", lambda *args: calls.append(args) or ([], False))
    for (X, Y, truth), times in ((skewed(rng), 1), (rolled_sheet(3), 2)):
        calls.clear()
        pairup.match(X, Y, anchors=[(0, int(truth[0]))])
        assert len(calls) == times


def test_a_result_has_to_be_clearly_better(rng, skewed):
    X, Y, _ = skewed(rng)
    context = Context(Constraints(60, 60, 60))
    found, geometries = drain(search(list(table_geometries(X, Y))[:2], (), [context], []))
    worse = replace(found, indices=rng.permutation(60))
    assert is_clearly_better(found, worse, geometries, context)
    assert not is_clearly_better(worse, found, geometries, context)
    assert not is_clearly_better(found, found, geometries, context)


def drain(steps):
    """Return what a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_the_last_stage_does_not_count_where_its_score_falls_far_behind(rng, skewed):
    X, Y, _ = skewed(rng)
    problem = Problem.check(X, Y)
    *_, answer = solve(problem)
    geometries, context = list(problem.geometries()), Context(problem.constraints)
    consensus = replace(answer.consensus, coarse=answer.consensus.coarse[: len(geometries)])
    for indices, counts in ((rng.permutation(60), False), (consensus.indices, True)):
        after = settle_unless_worse(consensus, problem.constraints.hard(indices), geometries, context)
        assert (after.indices == indices).all() == counts
        assert after.plan is not None
        np.testing.assert_array_equal(after.indices, indices if counts else consensus.indices)


def test_the_number_of_pairs_is_estimated_whichever_candidate_is_best(rng, skewed):
    X, Y, _ = skewed(rng)
    problem = Problem.check(X, Y)
    *_, answer = solve(problem)
    joint_first = sorted(answer.consensus.candidates, key=lambda candidate: candidate.metric != "joint")
    assert joint_first[0].metric == "joint"
    answer = replace(answer, consensus=replace(answer.consensus, candidates=joint_first))
    geometries = [*problem.geometries(), *problem.further_geometries()]
    assert 50 <= estimate_pairs(answer, geometries) <= 60


def test_the_overlap_is_the_share_expected_to_be_right(rng, skewed):
    X, Y, _ = skewed(rng)
    problem = Problem.check(X, Y)
    *_, answer = solve(problem)
    geometries = list(problem.geometries())
    assert estimate_pairs(replace(answer, reliability=0.36), geometries) == 22
    assert estimate_pairs(replace(answer, reliability=0.1), geometries) > 50  # by the density ratio


def test_the_consensus_of_an_answer_holds_no_plans(rng, skewed):
    X, Y, _ = skewed(rng)
    *_, answer = solve(Problem.check(X, Y))
    kept = [*answer.consensus.candidates, *(c for result in answer.consensus.coarse for c in result.candidates)]
    assert len(kept) > 10
    assert all(candidate.plan is None for candidate in kept)


def test_several_weights_of_a_prior_are_tried_unless_one_is_given(rng):
    prior = rng.normal(size=(5, 5)).astype(np.float32)
    constraints = Constraints(5, 5, 5, prior=prior)
    assert [w.prior.max() / prior.max() for w in weight_prior(constraints, None)] == pytest.approx([0.2, 1.0])
    assert [w.prior.max() / prior.max() for w in weight_prior(constraints, 0.5)] == pytest.approx([0.5])
    free = Constraints(5, 5, 5)
    assert weight_prior(free, None) == [free]


def test_six_hundred_objects_are_matched_by_leading_directions(rng, monkeypatch):
    """The low-rank way: no kernel is whitened as a whole, half of the starts end early, and the truth is found."""
    X, Y, truth = shuffle_pair(*related(rng, 620))
    whole, halved = [], []
    dense, halving = Geometry.whiten, search_module.anneal_halving
    monkeypatch.setattr(Geometry, "whiten", lambda *args: whole.append(args) or dense(*args))
    monkeypatch.setattr(search_module, "anneal_halving", lambda *a, **k: halved.append(a) or halving(*a, **k))
    *_, answer = solve(Problem.check(X, Y, metric="euclidean"))
    assert (answer.indices == truth).mean() > 0.9
    assert answer.reliable
    assert whole == []
    assert halved
    assert {c.epsilon for c in answer.consensus.candidates} == set(MANY_OBJECTS.continuation)


def related(rng, n):
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return Z, Z @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T + 0.01 * rng.normal(size=(n, 6))


def test_unequal_sets_of_many_objects_are_matched(rng):
    X, Y, truth = shuffle_pair(*related(rng, 650))
    *_, answer = solve(Problem.check(X, Y[:600], metric="euclidean"))
    there = truth < 600
    assert (answer.indices >= 0).sum() == 600
    assert (answer.indices[there] == truth[there]).mean() > 0.8


def test_what_distances_along_a_curve_alone_find_is_told_from_what_others_find_too():
    p = np.arange(40)
    found = {"cityblock": (0.9, 0.7), "geodesic": (0.98, 0.975)}
    coarse = [CoarseResult(name, [Candidate(name, 0, 0.1, p, value)], null) for name, (value, null) in found.items()]
    constraints = Constraints(40, 40, 40)
    for result, alone in zip(coarse, (False, True), strict=True):
        consensus = Consensus(result.candidates, np.ones(1), np.eye(40), p, [], 0.0, coarse)
        assert is_found_alone(consensus, constraints) is alone


def test_expected_partners_of_a_matching_that_is_right_about_kinds_are_near_the_true_ones(rng):
    Z = rng.gamma(2.0, size=(120, 3)) * (3, 2, 1)
    X, Y = (np.tanh(Z @ rng.normal(size=(3, d)) / 6) + 0.1 * rng.normal(size=(120, d)) for d in (8, 12))
    X, Y, truth = shuffle_pair(X, Y, random_state=0)
    along = np.argsort(np.linalg.svd(Y - Y.mean(axis=0))[0][:, 0])
    alike = np.arange(120)
    for block in np.split(along, 15):  # right but for one of eight that are alike along the first component
        alike[block] = rng.permutation(block)
    indices = alike[truth]
    geometries = list(table_geometries(X, Y))[:2]
    found = Candidate("euclidean", 0, 0.1, indices, 0.9)
    coarse = [CoarseResult(geometry.metric, [found], 0.1) for geometry in geometries]
    consensus = Consensus([found], np.ones(1), np.zeros((120, 120)), indices, [], 1.0, coarse)
    plan = expect_partners(consensus, geometries, Constraints(120, 120, 120))
    np.testing.assert_allclose(plan.sum(axis=1), 1, rtol=1e-4)
    images = np.vstack([Y, plan @ Y])
    assert foscttm(120 + np.arange(120), truth, images) < 0.25  # 0.5 by chance


def test_principal_coordinates_stand_for_the_linear_kernel(rng):
    geometry = next(iter(table_geometries(rng.normal(size=(40, 2)), rng.normal(size=(50, 3)))))
    U, V = eigenfunction_pair(geometry, None, 8)
    assert (U.shape, V.shape) == ((40, 2), (50, 3))  # no more than there are dimensions: others would be rounding
    np.testing.assert_allclose((U**2).mean(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-4)
