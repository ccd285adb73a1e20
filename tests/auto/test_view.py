"""Two sets in one metric."""

import numpy as np

from pairup.auto.view import View, covariances


def view_of(n=300):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3)) * [3, 2, 1]
    return View.fit("euclidean", Z, Z[:, ::-1] + 5.0, 0), Z


def test_the_alignment_of_the_truth_is_high_and_of_others_low():
    view, _ = view_of()
    U, V = view.x.values, view.y.values
    truth = view.alignment(covariances(U, V, np.arange(300)), 0.01)
    wrong = view.alignment(covariances(U, V, np.random.default_rng(1).permutation(300)), 0.01)
    assert truth > 0.8 > 0.4 > wrong


def test_all_rows_are_evaluated_as_the_sample_was():
    view, Z = view_of()
    np.testing.assert_allclose(view.x.evaluate(Z), view.x.values, atol=1e-4)


def test_unrelated_sets_keep_columns_and_lose_their_relation():
    view, _ = view_of()
    other = view.unrelated(np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(other.y.points, axis=0), np.sort(view.y.points, axis=0))
    assert (other.y.points != view.y.points).any()


def test_covariances_leave_out_objects_without_partner():
    U, V = np.eye(3, dtype=np.float32), 2 * np.eye(3, dtype=np.float32)
    N = covariances(U, V, np.array([1, -1, 0]))
    np.testing.assert_allclose(N, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])


def test_a_smaller_sample_holds_the_same_objects():
    view, _ = view_of()
    small = view.x.take(np.random.default_rng(0), 50)
    assert small.points.shape[0] == small.values.shape[0] == 50
