"""Whether partners stand out among the objects around them."""

from dataclasses import replace

import numpy as np
import pytest

from pairup.auto import distinctness
from pairup.auto.distinctness import lower_claims, share_to_keep
from pairup.auto.schedule import CALIBRATION


def nearest_in_a_cloud(rng, n, dimensions, partner):
    """Candidates of places in a cloud of objects: partners at a distance of theirs, or the nearest object."""
    x, y = rng.random((n, dimensions)), rng.random((20 * n, dimensions))
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    order = np.argsort(squares, axis=1)[:, :20]
    found = np.take_along_axis(squares, order, axis=1)
    own = found[:, 0] if partner is None else np.full(n, partner**2)
    candidates = np.column_stack([np.full(n, 20 * n), order])
    if partner is None:
        candidates[:, 0], candidates[:, 1] = order[:, 0], -1
    profit = 5.0 - 0.5 * np.column_stack([own, found])
    return candidates.astype(np.int32), profit.astype(np.float32), np.full(n, 5.0)


@pytest.mark.parametrize("dimensions", [2, 5])
def test_half_of_the_nearest_of_unrelated_objects_do_not_stand_out(monkeypatch, rng, dimensions):
    monkeypatch.setattr(distinctness, "CALIBRATION", replace(CALIBRATION, unclear=(1.0, 0.0)))
    # The ratio of the volumes up to the first two is uniform.
    assert share_to_keep(*nearest_in_a_cloud(rng, 300, dimensions, None)) == pytest.approx(0.5, abs=0.1)
    assert share_to_keep(*nearest_in_a_cloud(rng, 300, dimensions, 1e-4)) > 0.95


def test_partners_farther_than_others_are_wrong(rng):
    assert share_to_keep(*nearest_in_a_cloud(rng, 300, 3, 0.5)) == CALIBRATION.least_kept


def test_where_nothing_can_be_told_there_is_no_bound(rng):
    candidates, profit, reach = nearest_in_a_cloud(rng, 100, 3, None)
    assert share_to_keep(candidates[:, :4], profit[:, :4], reach) == 1.0  # too few candidates
    assert share_to_keep(np.full_like(candidates, -1), profit, reach) == 1.0  # no pairs
    assert share_to_keep(candidates, np.ones_like(profit), reach) == 1.0  # copies of one object
    missing = np.where(np.arange(21) > 3, -np.inf, profit)
    assert share_to_keep(candidates, missing, reach) == 1.0


def test_lower_claims_keep_their_order_and_have_the_mean_asked_for(rng):
    likely = rng.random(1000)
    lower = lower_claims(likely, 0.4)
    assert lower.mean() == pytest.approx(0.4 * likely.mean(), abs=1e-4)
    assert (np.argsort(lower) == np.argsort(likely)).all()
    assert (lower < likely).all()
    assert lower_claims(likely, 1.0) is likely
    assert lower_claims(likely, 0.0).max() < 1e-6
    assert lower_claims(np.ones(5), 0.3).mean() == pytest.approx(0.3, abs=1e-3)
    assert len(lower_claims(np.zeros(0), 0.3)) == 0
