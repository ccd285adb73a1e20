import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pairup.assignment import assign
from pairup.voice.pairing import pair_frames, similarity, soft_plan, take_partners


def uniform(n):
    return np.full(n, 1 / n)


def test_rows_sum_to_one_and_full_balance_uses_every_y_equally(rng):
    S = -rng.random((30, 20))
    plan = soft_plan(S, uniform(30), balance=1.0, sweeps=2000)
    assert_allclose(plan.sum(axis=1), 1)
    assert_allclose(plan.sum(axis=0), 30 / 20, rtol=1e-4)


def test_without_balance_it_is_a_softmax(rng):
    S = -rng.random((30, 20))
    plan = soft_plan(S, uniform(30), balance=0.0)
    assert_allclose(plan, np.exp(20 * S) / np.exp(20 * S).sum(axis=1, keepdims=True))


def test_a_sharp_balanced_plan_is_the_assignment(rng):
    S = -rng.random((12, 12))
    plan = soft_plan(S, uniform(12), sharpness=300.0, balance=1.0, sweeps=5000)
    assert_array_equal(plan.argmax(axis=1), assign(S))


def test_a_weight_counts_like_copies(rng):
    S = -rng.random((10, 15))
    copies = np.r_[0:10, 3, 3]
    weights = np.bincount(copies) / 12
    assert_allclose(soft_plan(S, weights), soft_plan(S[copies], uniform(12))[:10], atol=1e-12)


def test_a_shifted_and_stretched_voice_finds_itself(rng):
    U = rng.normal(size=(150, 8)) * [8, 6, 4, 3, 1, 1, 1, 1]
    order = rng.permutation(150)
    V = (U * 1.3 + 2)[order]
    plan = pair_frames(U, V)
    assert (order[plan.argmax(axis=1)] == np.arange(150)).mean() > 0.95


def test_other_words_are_not_taken_for_another_voice(rng):
    """One voice twice, once with a second sound: z-scoring everything would shift one against the other."""
    U = rng.normal(size=(200, 4))
    other_sound = rng.normal(size=(200, 4)) + 12
    V = np.concatenate([rng.normal(size=(200, 4)), other_sound])
    used = pair_frames(U, V).sum(axis=0)
    assert used[:200].sum() > 0.9 * used.sum()


def test_similarity_is_blind_to_shift_and_scale_of_every_coefficient(rng):
    U, V = rng.normal(size=(20, 5)), rng.normal(size=(30, 5))
    S = similarity(U, V)
    assert np.median(S) == pytest.approx(-1)
    assert_allclose(similarity(2 * U - 1, 2 * V + 7), S)


def test_partners_of_a_matching_and_of_a_plan_agree(rng):
    Y = rng.normal(size=(6, 2))
    indices = rng.permutation(6)
    assert_allclose(take_partners(Y, indices), take_partners(Y, np.eye(6)[indices]))


def test_frames_without_a_partner_are_refused():
    with pytest.raises(ValueError, match="some frames have no partner"):
        take_partners(np.zeros((3, 2)), np.array([0, -1, 2]))
