import numpy as np
import pytest

from pairup import dependence
from pairup.kernels import KernelFamily, center


@pytest.mark.parametrize("measure", ["lsmi", "hsic", "nocco", "mi"])
def test_paired_sets_are_more_dependent_than_shuffled_ones(measure, rng):
    X = rng.uniform(-1, 1, size=(60, 1))
    Y = X**2
    paired = dependence(X, Y, measure=measure)
    assert all(paired > dependence(X, rng.permutation(Y), measure=measure) for _ in range(5))


def test_hsic_is_the_biased_estimate(rng):
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    K, L = KernelFamily(X).matrix(), KernelFamily(Y).matrix()
    assert dependence(X, Y, measure="hsic") == pytest.approx(np.trace(center(K) @ center(L)) / 400)


def test_lsmi_of_independent_sets_is_near_zero(rng):
    values = [dependence(rng.normal(size=(80, 1)), rng.normal(size=(80, 1))) for _ in range(5)]
    assert abs(np.mean(values)) < 0.1


def test_lsmi_finds_the_squared_loss_mutual_information_of_two_classes(rng):
    """For y a copy of a fair coin x, p(x, y)/(p(x)p(y)) is 2 or 0, and SMI = ½·E[(r − 1)²] = ½."""
    X = np.repeat([0.0, 1.0], 40)[:, None]
    assert dependence(X, X) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0], "X has 3 rows and Y has 2"),
        ([1.0, np.nan], [1.0, 2.0], "X contains NaN"),
        ([["a"], ["b"]], [1.0, 2.0], "X must be numbers, got text such as 'a'"),
        ([1.0], [1.0], "at least 2 rows"),
        ([1j, 2j], [1.0, 2.0], "real numbers, got complex"),
    ],
)
def test_bad_sets_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        dependence(X, Y)


PARAMETERS = [
    *[("width", value, "width must be a positive number, got .*leave it out") for value in (0.0, -1.0, np.nan, np.inf)],
    *[("epsilon", value, "epsilon must be a positive number, got .*leave it out") for value in (0.0, -1.0, np.nan)],
    ("kernel", ("gaussian",) * 3, "kernel must be one kernel or a pair .*got 3 kernels; pass two"),
]


@pytest.mark.parametrize("measure", ["lsmi", "hsic", "nocco", "mi"])
@pytest.mark.parametrize(("name", "value", "message"), PARAMETERS)
def test_bad_parameters_are_refused(measure, name, value, message):
    with pytest.raises(ValueError, match=message):
        dependence([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], measure=measure, **{name: value})


def test_the_default_widths_are_those_of_the_paper(rng):
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    for measure, width in (("hsic", 1.0), ("mi", 1.0), ("nocco", 10**0.5)):
        assert dependence(X, Y, measure=measure) == dependence(X, Y, measure=measure, width=width)


def test_an_unknown_measure_is_refused():
    with pytest.raises(ValueError, match="measure must be"):
        dependence([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], measure="cka")
