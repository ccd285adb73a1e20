import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from pairup import KSHSIC, KSMI, KSNOCCO, LSOM, ProductLSOM
from pairup.climb import climb
from pairup.datasets import make_cubic, shuffle_pair
from pairup.kernels import KernelFamily
from pairup.measures import HSIC, LSMI, NOCCO
from pairup.metrics import match_accuracy
from pairup.starts import sort_match

PAPER = [KSMI(), KSHSIC(), KSNOCCO(), LSOM()]
ALL = [*PAPER, ProductLSOM(widths=(1.0, 2.0), n_starts=3)]
names = pytest.mark.parametrize("matcher", ALL, ids=lambda m: type(m).__name__)


@parametrize_with_checks(ALL)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def problem(rng):
    X = rng.exponential(size=(30, 1)) ** 1.5  # a lopsided set: its mirror image is no match
    return shuffle_pair(X, X + 0.1 * X**2, random_state=3)


@names
def test_a_lopsided_set_is_matched_well_above_chance(matcher, problem):
    X, Y, _ = problem
    found = matcher.fit_predict(X, Y)
    assert sorted(found) == list(range(30))
    assert np.corrcoef(X[:, 0], Y[found, 0])[0, 1] > 0.8


@pytest.mark.parametrize("matcher", PAPER, ids=lambda m: type(m).__name__)
def test_the_toy_of_the_paper_is_matched_up_to_its_mirror(matcher):
    X, Y, truth = make_cubic(40)
    found = matcher.fit_predict(X, Y)
    order = np.argsort(Y[:, 0])
    mirror = np.empty(40, dtype=int)
    mirror[np.argsort(X[:, 0])] = order[::-1]
    assert max(match_accuracy(found, truth), match_accuracy(found, mirror)) > 0.1


@names
def test_shuffling_the_sets_changes_nothing_but_the_order(matcher, problem, rng):
    X, Y, _ = problem
    rows, columns = rng.permutation(30), rng.permutation(30)
    # Cross-validation folds follow the rows of X, so only Y is shuffled for LSOM.
    if isinstance(matcher, LSOM):
        rows = np.arange(30)
    once = matcher.fit(X, Y)
    value, partners = once.dependence_, Y[once.assignment_]
    again = matcher.fit(X[rows], Y[columns])
    assert again.dependence_ == pytest.approx(value, rel=1e-5)  # ProductLSOM scores in float32
    same = (Y[columns][again.assignment_] == partners[rows]).mean()
    assert same > 0.9  # objects far out tie in the last bits, and rounding breaks such ties


@names
def test_shifting_and_rotating_changes_nothing(matcher, rng):
    X, Y = rng.normal(size=(24, 3)), rng.normal(size=(24, 2)) ** 2
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    once, again = matcher.fit_predict(X, Y), matcher.fit_predict(X @ rotation + 5, Y - 3)
    np.testing.assert_array_equal(once, again)


@names
def test_results_do_not_depend_on_n_jobs(matcher, problem):
    X, Y, _ = problem
    matcher = matcher.__class__()
    alone, together = (matcher.set_params(n_jobs=n).fit(X, Y) and matcher.assignment_ for n in (None, 2))
    np.testing.assert_array_equal(alone, together)


@names
def test_steps_are_what_fit_drains(matcher, problem):
    X, Y, _ = problem
    steps = list(matcher.steps(X, Y))
    fitted = matcher.__class__().fit(X, Y)
    np.testing.assert_array_equal(matcher.assignment_, fitted.assignment_)
    assert {step.start for step in steps} == set(range(max(step.start for step in steps) + 1))
    best = max(fitted.history_, key=lambda step: step.value)
    assert (best.value, best.iteration) == (fitted.dependence_, fitted.n_iter_)


@names
@pytest.mark.parametrize(
    "disguise",
    [
        lambda Z: Z.astype(np.float32),
        lambda Z: Z.tolist(),
        pd.DataFrame,
        np.asfortranarray,
        lambda Z: np.column_stack([Z, np.ones(len(Z))]),
        lambda Z: np.column_stack([Z, np.zeros((len(Z), 40))]),
    ],
    ids=["float32", "list", "DataFrame", "Fortran order", "constant column", "more columns than rows"],
)
def test_what_must_simply_work(matcher, disguise, rng):
    X = np.round(rng.normal(size=(16, 2)), 3)
    Y = np.round(X**3, 3)
    plain = matcher.fit(X, Y).dependence_
    assert matcher.fit(disguise(X), disguise(Y)).dependence_ == pytest.approx(plain, rel=1e-3)


@names
def test_read_only_arrays_and_duplicate_rows_work(matcher, rng):
    X = np.repeat(rng.normal(size=(8, 2)), 2, axis=0)
    Y = X.copy()
    for Z in (X, Y):
        Z.setflags(write=False)
    assert match_accuracy(matcher.fit_predict(X, Y), np.arange(16), Y) > 0.3


@names
@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0], [np.nan], [2.0]], [[1.0], [2.0], [3.0]], r"X contains NaN or infinity in 1 of 3 values.*row 1"),
        ([[1.0], [2.0], [3.0]], [[1.0], [np.inf], [3.0]], r"Y contains NaN or infinity"),
        (np.empty((0, 2)), np.empty((0, 2)), "0 sample"),
        ([[1.0]], [[1.0]], "1 sample|n_samples=1"),
        ([[1.0]] * 4, [[1.0], [2.0], [3.0], [4.0]], "all rows of X are equal"),
        (
            [[1.0], [2.0], [3.0]],
            [[1.0], [2.0]],
            "X has 3 rows and Y has 2, and .* gives every x a y.*; drop 1 row",
        ),
        ([["a"], ["b"], ["c"]], [[1.0], [2.0], [3.0]], "X must be numbers, got text such as 'a'"),
    ],
    ids=["nan", "infinity", "empty", "one row", "equal rows", "unequal sizes", "text"],
)
def test_bad_sets_are_refused_before_work_starts(matcher, X, Y, message):
    with pytest.raises(ValueError, match=message):
        matcher.fit(X, Y)


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        (KSHSIC(eta=0), r"eta, the step size, must lie in \(0, 1\], got 0"),
        (KSHSIC(n_starts=0), "n_starts must be at least 1, got 0"),
        (KSHSIC(max_iter=0), "max_iter must be at least 1, got 0"),
        (KSHSIC(width=-1), "width must be a positive number, got -1; it multiplies the median width"),
        (KSNOCCO(epsilon=0), "epsilon, the regulariser, must be a positive number, got 0"),
        (KSMI(ridge=0), "ridge must be a positive number"),
        (KSMI(step="other"), "step must be 'working' or 'published', got 'other'"),
        (LSOM(widths=[]), "widths must be one or more positive numbers"),
        (LSOM(cv=1), "cv must lie between 2 and the number of objects"),
        (LSOM(ridge="both"), "ridge must be 'outside' or 'inside'"),
        (LSOM(select="never"), "select must be 'wide-to-narrow', 'start' or 'iteration', got 'never'"),
        (KSHSIC(kernel="no such kernel"), "no such kernel"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(matcher, message, rng):
    with pytest.raises(ValueError, match=message):
        matcher.fit(rng.normal(size=(10, 2)), rng.normal(size=(10, 2)))


def test_matrices_that_do_not_fit_are_refused_before_they_are_made():
    X = np.arange(3_000_000.0)[:, None]
    with pytest.raises(MemoryError, match=r"3000000 × 3000000 objects need about \d+ GiB"):
        KSHSIC().fit(X, X)


def test_kernels_can_differ_and_be_given(rng):
    X = rng.normal(size=(20, 3))
    Y = np.tanh(X)[rng.permutation(20)]
    by_name = KSHSIC(kernel=("gaussian", "linear"), width=2.0).fit(X, Y)
    by_matrix = KSHSIC(kernel=("precomputed", "precomputed")).fit(KernelFamily(X).matrix(2.0), Y @ Y.T)
    assert by_matrix.dependence_ == pytest.approx(by_name.dependence_, rel=0.2)
    assert not by_matrix.indefinite_


def test_an_indefinite_kernel_works_and_is_told(rng):
    A = rng.normal(size=(15, 15))
    matcher = KSHSIC(kernel="precomputed").fit(A + A.T, A @ A.T)
    assert matcher.indefinite_
    assert sorted(matcher.assignment_) == list(range(15))
    assert matcher.dependence_ == max(step.value for step in matcher.history_)


def test_kernel_matrices_must_be_square_and_symmetric(rng):
    with pytest.raises(ValueError, match="square"):
        KSHSIC(kernel="precomputed").fit(rng.normal(size=(6, 5)), np.eye(6))
    with pytest.raises(ValueError, match="symmetric"):
        KSHSIC(kernel="precomputed").fit(rng.normal(size=(6, 6)), np.eye(6))


def test_the_working_step_of_ks_mi_beats_the_published_one(rng):
    better = 0
    for seed in range(6):
        X, Y, _ = make_cubic(30, random_state=seed)
        working = KSMI(n_starts=2).fit(X, Y).dependence_
        better += working >= KSMI(n_starts=2, step="published").fit(X, Y).dependence_
    assert better >= 5


def test_lsom_reports_its_cross_validation_as_scikit_learn_does(problem):
    X, Y, _ = problem
    matcher = LSOM(widths=(1.0, 2.0), lambdas=(0.1, 0.01, 0.001), cv=3).fit(X, Y)
    results = matcher.cv_results_
    assert len(results["params"]) == 6
    assert {"split0_test_score", "split2_test_score", "mean_test_score", "std_test_score", "rank_test_score"} <= set(
        results
    )
    best = results["params"][int(np.argmin(results["rank_test_score"]))]
    assert matcher.best_params_ == best
    pd.DataFrame(results)


def test_of_equal_starts_the_quickest_wins():
    X, Y, _ = make_cubic(100, random_state=3)
    matcher = KSNOCCO()
    steps = list(matcher.steps(X, Y))
    best = max(step.value for step in steps)
    lengths = {step.start: sum(other.start == step.start for other in steps) for step in steps}
    level = [lengths[step.start] for step in steps if step.value >= best * (1 - 1e-10)]
    assert len(matcher.history_) == min(level)


def test_lsom_can_choose_at_each_iteration(problem):
    X, Y, _ = problem
    matcher = LSOM(select="iteration", n_starts=2).fit(X, Y)
    assert matcher.dependence_ == matcher.history_[-1].value
    assert matcher.cv_results_["mean_test_score"].max() == pytest.approx(matcher.best_score_)


def test_the_winner_of_lsom_has_the_best_held_out_score_of_all_ends(problem):
    X, Y, _ = problem
    matcher = LSOM(select="start", n_starts=3)
    histories = {}
    for step in matcher.steps(X, Y):
        histories.setdefault(step.start, []).append(step)
    grid = matcher._prepare(X, Y).grid
    scores = [grid.best_score(history[-1].indices) for history in histories.values()]
    assert len(scores) > 3
    assert matcher.best_score_ == pytest.approx(max(scores))
    np.testing.assert_array_equal(matcher.assignment_, matcher.history_[-1].indices)


def test_lsom_narrows_its_kernels_and_ends_at_the_narrowest(problem):
    X, Y, _ = problem
    matcher = LSOM(widths=(1.0, 3.0, 2.0), lambdas=(0.1, 0.01), n_starts=2)
    steps = list(matcher.steps(X, Y))
    x, y = KernelFamily(X), KernelFamily(Y)
    at_first = [step for step in steps if step.iteration == 0]
    for lam in (0.1, 0.01):
        value = LSMI(x.matrix(3.0), y.matrix(3.0), lam=lam).value(at_first[0].indices)
        assert any(step.value == pytest.approx(value) for step in at_first), "the widest width comes first"
    ends = [LSMI(x.matrix(1.0), y.matrix(1.0), lam=lam).value(matcher.assignment_) for lam in (0.1, 0.01)]
    assert any(matcher.dependence_ == pytest.approx(value) for value in ends)
    assert matcher.history_[-1].iteration == matcher.n_iter_
    iterations = [step.iteration for step in matcher.history_]
    assert iterations == sorted(iterations)
    assert matcher.best_score_ == pytest.approx(matcher.held_out_score(X, Y, matcher.assignment_))


def test_lsom_stays_at_the_truth_if_its_coefficients_are_not_negative(rng):
    """The literal step leaves the true matching although LSMI is high there; with α ≥ 0 it stays."""
    Z = rng.gamma(2.0, size=(120, 4)) * [4, 3, 2, 1]
    K = KernelFamily(Z).matrix(1.0)
    L = KernelFamily(np.log1p(Z) + 0.05 * rng.normal(size=Z.shape)).matrix(1.0)
    truth = np.arange(120)
    kept = {
        nonnegative: np.mean(list(climb(LSMI(K, L, lam=0.001, nonnegative=nonnegative), truth))[-1].indices == truth)
        for nonnegative in (False, True)
    }
    assert kept[True] > 0.95
    assert kept[False] < 0.8


def test_lsom_matches_the_toy_at_the_setting_of_the_paper_in_a_step_or_two():
    iterations = []
    for seed in range(6):
        X, Y, truth = make_cubic(100, random_state=seed)
        matcher = LSOM(widths=[10**0.5], lambdas=[0.1], select="start").fit(X, Y)
        mirror = sort_match(X[:, 0], -Y[:, 0])
        assert max(match_accuracy(matcher.assignment_, t) for t in (truth, mirror)) == 1.0
        iterations.append(matcher.n_iter_)
    assert np.median(iterations) <= 2


def test_the_held_out_score_of_the_truth_tells_a_failed_search_from_a_failed_measure(problem):
    X, Y, truth = problem
    matcher = LSOM(n_starts=2).fit(X, Y)
    assert matcher.held_out_score(X, Y, truth) > matcher.held_out_score(X, Y, np.arange(30)) + 0.2
    with pytest.raises(ValueError, match="indices must hold each of 0, …, 29 once"):
        matcher.held_out_score(X, Y, np.zeros(30, dtype=int))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_literal_step_of_lsom_is_one_parameter_away(rng, nonnegative):
    Z = rng.gamma(2.0, size=(60, 4)) * [4, 3, 2, 1]
    X, Y = Z, np.log1p(Z)[rng.permutation(60)] + 0.05 * rng.normal(size=Z.shape)
    model = LSOM(nonnegative=nonnegative, select="start", n_starts=3, n_jobs=2).fit(X, Y)
    setting = model.best_params_
    K, L = (KernelFamily(S).matrix(setting["width"]) for S in (X, Y))
    start = model.history_[0].indices
    by_hand, other = (
        list(climb(LSMI(K, L, lam=setting["lambda"], nonnegative=clipped), start))
        for clipped in (nonnegative, not nonnegative)
    )
    assert [step.indices.tolist() for step in model.history_] == [step.indices.tolist() for step in by_hand]
    assert [step.indices.tolist() for step in other] != [step.indices.tolist() for step in by_hand]
    end = by_hand[-1] if nonnegative else max(by_hand, key=lambda step: step.value)
    np.testing.assert_array_equal(model.assignment_, end.indices)


def test_signed_kernels_are_used_with_all_coefficients(rng):
    """With a linear kernel the ratio of α⁺ is negative somewhere too, and much worse."""
    Z = rng.gamma(2.0, size=(40, 4)) * [4, 3, 2, 1]
    order = rng.permutation(40)
    Y = (Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T)[order]
    found = [LSOM(kernel="linear", nonnegative=clipped, n_starts=3).fit_predict(Z, Y) for clipped in (True, False)]
    np.testing.assert_array_equal(*found)
    assert (order[found[0]] == np.arange(40)).mean() > 0.9


@pytest.mark.parametrize("matcher", [KSHSIC(), KSNOCCO(), KSMI(), LSOM(n_starts=2), LSOM(n_starts=2, select="start")])
def test_a_search_can_begin_at_any_matching(problem, matcher):
    X, Y, truth = problem
    before = dict(vars(matcher))
    ends = matcher.search_from(X, Y, truth)
    assert vars(matcher) == before, "nothing is fitted"
    assert sorted(ends) == list(range(30))
    np.testing.assert_array_equal(matcher.search_from(X, Y, ends.tolist()), matcher.search_from(X, Y, ends))
    if isinstance(matcher, KSHSIC | KSNOCCO):
        K, L = (KernelFamily(Z).matrix(matcher.width) for Z in (X, Y))
        measure = {"KSHSIC": HSIC, "KSNOCCO": NOCCO}[type(matcher).__name__](K, L)
        assert measure.value(ends) >= measure.value(truth) - 1e-9
        np.testing.assert_array_equal(matcher.search_from(X, Y, ends), ends)
    with pytest.raises(ValueError, match="start must hold each of 0, …, 29 once"):
        matcher.search_from(X, Y, np.zeros((5, 6), dtype=int))


def test_the_folds_of_a_fit_are_those_of_its_scores(problem):
    X, Y, truth = problem
    model = LSOM(n_starts=2, random_state=None).fit(X, Y)
    assert model.held_out_score(X, Y, model.assignment_) == model.best_score_
    with pytest.raises(ValueError, match="expecting"):
        model.held_out_score(np.hstack([X, X]), Y, truth)
    with pytest.raises(NotFittedError):
        LSOM().held_out_score(X, Y, truth)


@pytest.mark.parametrize("matrix", [-np.eye(6), np.zeros((6, 6))])
def test_kernels_that_fit_nothing_are_no_reason_to_fail(matrix):
    assert sorted(LSOM(kernel="precomputed").fit_predict(matrix, matrix)) == list(range(6))


def test_the_product_basis_is_searched_and_selected_without_labels(rng):
    Z = rng.gamma(2.0, size=(50, 4)) * [4, 3, 2, 1]
    order = rng.permutation(50)
    Y = (Z @ np.linalg.qr(rng.normal(size=(6, 4)))[0].T)[order]
    matcher = ProductLSOM(widths=(1.0, 2.0), n_starts=3).fit(Z, Y)
    assert (order[matcher.assignment_] == np.arange(50)).mean() > 0.9
    assert set(matcher.best_params_) == {"width", "epsilon"}
    assert matcher.best_score_ == matcher.cv_results_["mean_test_score"].max()
    assert matcher.dependence_ == pytest.approx(matcher.best_score_ - 0.5, rel=1e-6)
    np.testing.assert_array_equal(matcher.set_params(n_jobs=2).fit(Z, Y).assignment_, matcher.assignment_)


@pytest.mark.parametrize("matcher", [KSHSIC, KSNOCCO])
def test_annealed_estimators_go_at_least_as_high(rng, matcher):
    X = rng.normal(size=(50, 5))
    Y = np.tanh(X @ rng.normal(size=(5, 5)))[rng.permutation(50)]
    climbed, annealed = (matcher(n_starts=3, solver=solver).fit(X, Y) for solver in ("climb", "anneal"))
    assert annealed.dependence_ >= climbed.dependence_ - 1e-9


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        (KSHSIC(solver="swap"), "solver must be 'climb' or 'anneal', got 'swap'"),
        (ProductLSOM(widths=[0.0]), "widths must be one or more positive numbers"),
    ],
)
def test_unknown_solvers_and_empty_grids_are_refused(rng, matcher, message):
    with pytest.raises(ValueError, match=message):
        matcher.fit(rng.normal(size=(6, 2)), rng.normal(size=(6, 2)))


def test_every_parameter_of_an_estimator_is_of_use():
    """KS-MI has no `solver`, for it cannot be annealed; ProductLSOM has nothing of the climb or of its folds."""
    assert not hasattr(KSMI(), "solver")
    assert set(ProductLSOM().get_params()) == {"widths", "n_starts", "kernel", "n_jobs"}
    assert "basis" not in LSOM().get_params()


def test_the_product_basis_and_nocco_are_one_measure(rng):
    """½tr(K̃ L̃) − ½ of the product basis orders matchings as NOCCO of the same ε does, up to centring."""
    X = rng.normal(size=(30, 2))
    K = KernelFamily(X).matrix(1.0)
    L = KernelFamily(np.tanh(X)).matrix(1.0)
    n, epsilon = 30, 0.05
    whitened = [M @ np.linalg.inv(M + n * epsilon * np.eye(n)) for M in (K, L)]
    matchings = [np.arange(30), *(rng.permutation(30) for _ in range(30))]
    product = [np.sum(whitened[0] * whitened[1][p][:, p]) for p in matchings]
    nocco = [NOCCO(K, L, epsilon=epsilon).value(p) for p in matchings]
    assert np.corrcoef(product, nocco)[0, 1] > 0.99
    assert np.argmax(product) == np.argmax(nocco) == 0
