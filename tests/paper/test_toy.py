import numpy as np
import pytest

from pairup.datasets import make_cubic
from pairup.paper import toy
from pairup.paper.protocol import TOY_METHODS, Task


@pytest.mark.parametrize("method", TOY_METHODS)
def test_results_describe_one_permutation(method):
    task = Task("toy", method, 30, 0)
    result = toy.run(task, None)
    indices = np.array(result["indices"])
    assert sorted(indices) == list(range(30))
    _, _, truth = make_cubic(30, random_state=task.seed)
    assert result["accuracy"] == np.mean(indices == truth)
    if method == "KS-NOCCO":
        assert np.all(np.diff(result["values"]) > -1e-9)  # the climb does not descend
    if method.startswith("LSOM"):
        assert result["score_truth"] > 0
    if method != "pairup":
        assert sorted(result["start"]) == list(range(30))


def test_lsom_finds_the_cubic_or_its_mirror_image():
    for run in range(2):
        result = toy.run(Task("toy", "LSOM", 100, run), None)
        assert max(result["accuracy"], result["accuracy_mirror"]) == 1.0


def test_ks_nocco_finds_the_cubic_or_its_mirror_image():
    """The data are nearly symmetric, so that both have nearly the same NOCCO."""
    for run in range(3):
        result = toy.run(Task("toy", "KS-NOCCO", 100, run), None)
        assert max(result["accuracy"], result["accuracy_mirror"]) > 0.9
        assert abs(result["correlation"]) > 0.99
        assert result["nocco"] > 0.99 * result["nocco_truth"]
        assert result["nocco_mirror"] == pytest.approx(result["nocco_truth"], rel=0.05)
