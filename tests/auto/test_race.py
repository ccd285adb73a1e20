"""Samples of many objects, among which maps are found and compared."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from pairup.auto import race
from pairup.auto.race import Race, draw_rows
from pairup.auto.schedule import MULTILEVEL
from pairup.auto.solution import Solution
from pairup.constraints import Constraints


def test_rows_are_drawn_once_and_in_order(rng):
    rows = draw_rows(1000, rng, most=100)
    assert len(np.unique(rows)) == 100
    assert (np.diff(rows) > 0).all()
    assert draw_rows(100, rng, most=100).tolist() == list(range(100))


def test_a_race_keeps_to_what_is_known_of_its_objects(monkeypatch):
    monkeypatch.setattr(race, "MULTILEVEL", replace(MULTILEVEL, raced=20))
    prior = csr_array((np.arange(1.0, 31.0), (np.arange(30), np.arange(30))), shape=(30, 40))
    pairs = np.arange(30), np.arange(30)
    constraints = Constraints(30, 40, 30, pairs, forbidden=(pairs[0], pairs[1] + 1), sparse_prior=prior)
    rng = np.random.default_rng(0)
    some = Race.draw(constraints, draw_rows(30, rng), draw_rows(40, rng), rng)
    assert (len(some.rows), len(some.columns), some.share) == (20, 20, 0.5)
    inside = some.constraints
    np.testing.assert_array_equal(some.rows[inside.anchors[0]], some.columns[inside.anchors[1]])
    np.testing.assert_array_equal(some.rows[inside.forbidden[0]] + 1, some.columns[inside.forbidden[1]])
    rows, columns = inside.sparse_prior.nonzero()
    np.testing.assert_array_equal(some.rows[rows], some.columns[columns])
    expanded = some.expand(Solution("a", np.arange(20), 1.0, 0.4, 32))
    assert expanded.found_again == 0.8
    assert (expanded.indices >= 0).sum() == 20
    np.testing.assert_array_equal(expanded.indices[some.rows], some.columns)
    np.testing.assert_array_equal(some.restrict(expanded.indices), np.arange(20))
    assert (some.restrict(np.full(30, -1)) == -1).all()
