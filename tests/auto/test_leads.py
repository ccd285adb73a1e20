from dataclasses import replace

import numpy as np
import pytest

from pairup.auto import leads
from pairup.auto.leads import anneal_led, find_lead, has_dominant_components, share_found_again
from pairup.auto.metrics import directions_pair
from pairup.auto.problem import Context
from pairup.auto.schedule import GEOMETRY
from pairup.auto.signatures import score_signatures
from pairup.constraints import Constraints
from pairup.datasets import shuffle_pair

N = 250


def embeddings(rng, related=True):
    """Two embeddings of many dimensions, none of which dominates: each turned, with some noise of its own."""
    Z = [rng.gamma(1.0, size=(N, 30)) for _ in range(2)]
    turned = (Z[k] @ np.linalg.qr(rng.normal(size=(40, 30)))[0].T for k in (0, 0 if related else 1))
    X, Y = (view + 0.05 * rng.normal(size=view.shape) for view in turned)
    return shuffle_pair(X, Y, random_state=0)


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(leads, "GEOMETRY", replace(GEOMETRY, many_objects_from=200))


def test_signatures_lead_to_the_pairing_of_embeddings(rng, few_are_many):
    X, Y, truth = embeddings(rng)
    lead = find_lead(directions_pair(X, Y), Context(Constraints(N, N, N)))
    assert lead is not None
    assert (lead == truth).mean() > 0.9


def test_unrelated_sets_have_no_lead(rng, few_are_many):
    X, Y, _ = embeddings(rng, related=False)
    assert find_lead(directions_pair(X, Y), Context(Constraints(N, N, N))) is None


def test_few_objects_and_few_dimensions_are_searched_as_ever(rng, few_are_many, skewed):
    X, Y, _ = embeddings(rng)
    assert find_lead(directions_pair(X[:150], Y[:150]), Context(Constraints(150, 150, 150))) is None
    X, Y, _ = skewed(rng, N)
    geometry = directions_pair(X, Y)
    assert has_dominant_components(geometry.x)
    assert find_lead(geometry, Context(Constraints(N, N, N))) is None


def test_a_led_matching_keeps_to_its_constraints(rng):
    X, Y, truth = embeddings(rng)
    wrong = np.arange(5), truth[:5]
    geometry = directions_pair(X[:200], Y)
    constraints = Constraints(200, N, 200, forbidden=wrong)
    indices, again = anneal_led(geometry, constraints, score_signatures(geometry))
    assert (indices[:5] != truth[:5]).all()
    assert len(np.unique(indices)) == 200
    assert 0 < again <= 1


def test_half_of_the_pairs_find_the_others_again_if_they_are_right(rng):
    X, Y, truth = embeddings(rng)
    forms = directions_pair(X, Y).coarse_forms(0.01)
    part = np.where(np.arange(N) < 200, truth, -1)
    right, of_part, wrong = (
        share_found_again(forms, p, Constraints(N, N, N), rng) for p in (truth, part, rng.permutation(N))
    )
    assert min(right, of_part) > 0.8
    assert wrong < 0.1
