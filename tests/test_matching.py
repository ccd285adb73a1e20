import json

import numpy as np
import pandas as pd
import pytest

import pairup
from pairup.datasets import shuffle_pair


@pytest.fixture
def sets(rng):
    X = rng.exponential(size=(20, 1)) ** 1.5
    return shuffle_pair(X, 2 * X)


@pytest.mark.parametrize("method", ["lsom", "ks-hsic", "ks-nocco", "ks-mi"])
def test_match_is_the_estimator_of_the_same_name(sets, method):
    X, Y, _ = sets
    matching = pairup.match(X, Y, method=method)
    estimator = {"lsom": "LSOM", "ks-hsic": "KSHSIC", "ks-nocco": "KSNOCCO", "ks-mi": "KSMI"}[method]
    np.testing.assert_array_equal(matching.indices, getattr(pairup, estimator)().fit_predict(X, Y))
    assert matching.method == method
    assert matching.dependence == matching.model.dependence_


def test_data_frames_keep_their_index(sets):
    X, Y, _ = sets
    x = pd.DataFrame(X, index=[f"x{i}" for i in range(20)])
    y = pd.DataFrame(Y, index=[f"y{i}" for i in range(20)])
    frame = pairup.match(x, y, method="ks-hsic").to_frame()
    indices = pairup.match(X, Y, method="ks-hsic").indices
    assert frame["x"].tolist() == [f"x{i}" for i in range(20)]
    assert frame["y"].tolist() == [f"y{j}" for j in indices]


def test_a_matching_renders_as_json_and_csv(sets):
    X, Y, _ = sets
    matching = pairup.match(X, Y, method="ks-hsic")
    again = json.loads(json.dumps(matching.to_dict()))
    assert again["indices"] == matching.indices.tolist()
    lines = matching.to_csv().splitlines()
    assert lines[0].split(",")[:2] == ["x", "y"]
    assert len(lines) == 21


def test_an_unknown_method_is_refused(sets):
    X, Y, _ = sets
    with pytest.raises(ValueError, match=r"method must be one of .*, got 'magic'"):
        pairup.match(X, Y, method="magic")
