import os
import signal

import numpy as np
import pytest

import pairup
import pairup.metrics
from pairup.datasets import shuffle_pair
from pairup.kernels import squared_distances


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


def test_steps_go_on_while_unrelated_sets_are_searched(sets):
    """What has been found stays in the steps, and their numbers rise, so that progress can be seen."""
    X, Y, _ = sets
    *steps, matching = pairup.match_steps(X, Y, method="ks-hsic")
    searched = matching.model.n_searches_
    compared = [step for step in steps if step.start >= searched]
    assert len({(step.start, step.iteration) for step in compared}) > 10
    assert all(np.array_equal(step.indices, matching.indices) for step in compared)


@pytest.mark.parametrize("method", ["auto", "lsom", "ks-hsic"])
def test_a_negative_seed_is_refused_before_work_starts(sets, method):
    with pytest.raises(ValueError, match="random_state must be a whole number, 0 or more, got -1"):
        next(pairup.match_steps(*sets[:2], method=method, random_state=-1))


def test_an_unknown_method_is_refused(sets):
    X, Y, _ = sets
    with pytest.raises(ValueError, match=r"method must be one of .*, got 'magic'"):
        pairup.match(X, Y, method="magic")


def test_match_finds_the_truth_and_knows_it(rng, skewed):
    X, Y, truth = skewed(rng)
    m = pairup.match(X, Y)
    assert (m.indices == truth).mean() > 0.9
    assert m.reliable
    assert m.confidence.mean() > 0.8
    assert "identify" in m.report


def test_columns_in_wild_units_are_matched_with_a_mixture_of_them():
    rng = np.random.default_rng(0)  # a mixture that no other metric sees through
    Z = rng.gamma(1.5, size=(80, 4))
    X, Y, truth = shuffle_pair(Z * [1, 1e3, 1e-3, 10], Z @ rng.normal(size=(4, 6)) * [1e2, 1, 1, 1e-2, 5, 1], 0)
    m = pairup.match(X, Y)
    assert (m.indices == truth).mean() > 0.9
    assert m.reliable
    assert "Best metric: Euclidean distance of 4 whitened principal components" in m.report


def test_match_says_when_there_is_nothing_to_find(rng):
    m = pairup.match(rng.normal(size=(60, 5)), rng.normal(size=(60, 6)))
    assert m.reliable is False
    assert m.confidence.mean() < 0.3
    assert "Do not rely" in m.report


def test_few_objects_without_a_relation_are_seldom_believed():
    believed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        believed += pairup.match(rng.normal(size=(8, 4)), rng.gamma(2.0, size=(8, 5))).reliable
    assert believed <= 1


def test_results_do_not_depend_on_jobs_or_order(rng, skewed):
    X, Y, _ = skewed(rng, n=40)
    one, two = pairup.match(X, Y), pairup.match(X, Y, n_jobs=2)
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.confidence, two.confidence)
    order = rng.permutation(40)
    np.testing.assert_array_equal(order[pairup.match(X, Y[order]).indices], one.indices)


def test_one_metric_is_enough(rng, skewed):
    X, Y, truth = skewed(rng, n=50)
    assert (pairup.match(X, Y, metric="euclidean").indices == truth).mean() > 0.9
    DX, DY = (np.sqrt(squared_distances(Z)) for Z in (X, Y))
    distances = pairup.match(DX, DY, metric="precomputed")
    assert (distances.indices == truth).mean() > 0.9
    kernels = pairup.match(X @ X.T, Y @ Y.T, kernel="precomputed")
    assert (kernels.indices == truth).mean() > 0.9
    unit = rng.normal(size=(50, 8)) * np.geomspace(3, 0.3, 8)
    scaled = unit * rng.uniform(0.1, 10, size=(50, 1))
    turned = unit[::-1] @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    assert (pairup.match(scaled, turned, metric="cosine").indices == np.arange(50)[::-1]).mean() > 0.9


def test_anchors_decide_between_mirror_images(rng):
    half = rng.normal(size=20)
    x = np.sort(np.r_[half, -half])
    X, Y, truth = shuffle_pair(x[:, None], x[:, None])
    assert not pairup.match(X, Y).reliable
    known = [(int(i), int(truth[i])) for i in (39, 0, 20)]
    m = pairup.match(X, Y, anchors=known)
    assert all(m.indices[i] == j for i, j in known)
    assert all(m.confidence[i] == 1 for i, _ in known)
    assert np.abs(X[:, 0] - Y[m.indices, 0]).mean() < 0.1


def keeps_to(m, forbidden):
    """Whether no matching that a result holds has a forbidden pair, and none of them is likely."""
    rows, columns = np.transpose(forbidden)
    steps = [step.indices for step in m.history]
    found = [m.indices, *(other.indices for other in m.alternatives), *steps]
    return (m.probabilities[rows, columns] == 0).all() and all((p[rows] != columns).all() for p in found)


def test_forbidden_pairs_are_in_no_answer(rng, skewed):
    X, Y, truth = skewed(rng)
    right = pairup.match(X, Y)
    assert (right.indices == truth).mean() > 0.9
    wrong = [(i, int(truth[i])) for i in range(6)]
    m = pairup.match(X, Y, forbidden=wrong)
    assert keeps_to(m, wrong)
    assert (m.indices[6:] == truth[6:]).mean() > 0.7  # six others have to give way
    np.testing.assert_allclose(m.probabilities.sum(axis=1), 1, atol=1e-6)
    assert (m.probabilities >= 0).all()
    others = [(i, j) for i in range(60) for j in range(60) if j != truth[i] and rng.random() < 0.9]
    assert keeps_to(helped := pairup.match(X, Y, forbidden=others), others)
    assert (helped.indices == truth).mean() >= (right.indices == truth).mean()


def test_forbidden_pairs_go_with_everything_else(rng, skewed):
    X, Y, truth = skewed(rng, n=40)
    wrong = [(i, int(truth[(i + k) % 40])) for i in range(40) for k in (0, 3)]
    known = [(0, int(truth[1])), (1, int(truth[0]))]
    DX, DY = (np.sqrt(squared_distances(Z)) for Z in (X, Y))
    for m in (
        pairup.match(X, Y, forbidden=wrong, anchors=known, overlap=0.8),
        pairup.match(X, Y, forbidden=wrong, prior=rng.random((40, 40)), metric="euclidean", overlap="auto"),
        pairup.match(DX, DY, forbidden=wrong, metric="precomputed"),
    ):
        assert keeps_to(m, wrong)
    fewer = [pair for pair in wrong if pair[1] < 30]
    assert keeps_to(pairup.match(X, Y[:30], forbidden=np.array(fewer)), fewer)


def test_forbidden_pairs_decide_between_mirror_images(rng):
    x = np.sort(rng.normal(size=40))
    X, Y, _ = shuffle_pair(x[:, None], x[:, None])
    wrong = np.argwhere(X * Y.T < 0)  # on the other side
    m = pairup.match(X, Y, forbidden=wrong)
    assert keeps_to(m, wrong)
    assert np.corrcoef(X[:, 0], Y[m.indices, 0])[0, 1] > 0.9


def test_forbidden_pairs_are_in_no_population_and_in_no_small_answer(rng, monkeypatch):
    import pairup.auto.stages as stages

    wrong, populations = np.argwhere(rng.random((36, 36)) < 0.3), []
    evolve = stages.evolve

    def record(*args):  # the search has an order of its own, and so have its forbidden pairs
        populations.append((evolve(*args), args[-1].constraints.forbidden))
        return populations[-1][0]

    monkeypatch.setattr(stages, "evolve", record)
    assert keeps_to(pairup.match(rng.normal(size=(36, 3)), rng.normal(size=(36, 3)), forbidden=wrong), wrong)
    assert populations
    assert all(len(rows) == len(wrong) for _, (rows, _) in populations)
    assert all((p[rows] != columns).all() for population, (rows, columns) in populations for p in population)
    few = pairup.match([[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]], forbidden=[(0, 0), (0, 1)])
    assert few.indices[0] == 2
    assert few.confidence[0] == pytest.approx(1)


def test_a_prior_decides_between_mirror_images(rng):
    x = np.sort(rng.normal(size=40))
    X, Y, _ = shuffle_pair(x[:, None], x[:, None])
    prior = -np.abs(X - Y.T) + rng.normal(size=(40, 40))
    for weight in (None, 1.0):
        m = pairup.match(X, Y, prior=prior, prior_weight=weight)
        assert np.corrcoef(X[:, 0], Y[m.indices, 0])[0, 1] > 0.9


def test_unequal_sizes_give_plain_indices(rng, skewed):
    X, Y, truth = skewed(rng)
    fewer = pairup.match(X, Y[:45])
    assert fewer.indices.shape == (60,)
    assert (fewer.indices >= 0).sum() == 45
    there = truth < 45
    assert (fewer.indices[there] == truth[there]).mean() > 0.7
    more = pairup.match(X[:45], Y)
    assert (more.indices >= 0).all()
    assert (more.indices == truth[:45]).mean() > 0.7


@pytest.mark.parametrize(("n", "m"), [(30, 4), (4, 30), (30, 5), (5, 30)])
def test_very_unequal_sizes_are_matched(n, m):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(max(n, m), 3))
        found = pairup.match(X[:n], X[:m] @ rng.normal(size=(3, 3)))
        assert (found.indices >= 0).sum() == min(n, m)


def test_one_pair_can_be_asked_for(rng, skewed):
    X, Y, _ = skewed(rng)
    assert (pairup.match(X, Y, overlap=0.01).indices >= 0).sum() == 1


def test_outliers_on_both_sides_stay_alone(rng, skewed):
    X, Y, truth = skewed(rng)
    X = np.vstack([X, rng.normal(size=(10, 4)) * 3 - 20])
    Y = np.vstack([Y, rng.normal(size=(10, 7)) * 3 + 20])
    m = pairup.match(X, Y, overlap=60 / 70)
    assert (m.indices < 0).sum() == 10
    assert (m.indices[:60] == truth).mean() > 0.6
    guessed = pairup.match(X, Y, overlap="auto")
    assert 0.5 < (guessed.indices >= 0).mean() <= 1
    assert guessed.confidence[guessed.indices < 0].max(initial=0) == 0


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (2, 2), (3, 3), (5, 3), (4, 4), (5, 5)])
def test_tiny_sets_are_matched_and_not_believed(rng, n, m):
    matching = pairup.match(rng.normal(size=(n, 2)), rng.normal(size=(m, 2)))
    assert (matching.indices >= 0).sum() == min(n, m)
    assert not matching.reliable


def test_duplicates_are_harmless(rng, skewed):
    X, Y, truth = skewed(rng, n=50)
    X[10:25] = X[10]
    Y[truth[10:25]] = Y[truth[10]]
    m = pairup.match(X, Y)
    assert pairup.metrics.match_accuracy(m.indices, truth, Y) > 0.8


def test_photos_of_the_paper_are_matched(data_folder):
    from pairup.datasets import half_images, load_flickr, to_lab

    photos = to_lab(load_flickr(data_folder / "flickr320/png40"))
    chosen = np.random.default_rng(0).permutation(320)[:100]
    X, Y, truth = half_images(photos[chosen])
    m = pairup.match(X, Y)
    assert pairup.metrics.match_accuracy(m.indices, truth, Y) > 0.85
    assert m.reliable


@pytest.mark.filterwarnings("ignore")  # Dask warns about ports, sizes and its own deprecations
def test_a_cluster_that_loses_a_worker_gives_the_same_matching(rng, skewed):
    distributed = pytest.importorskip("distributed")
    from pairup.cluster import on_cluster
    from pairup.matching import match_steps

    X, Y, _ = skewed(rng, n=40)
    here = pairup.match(X, Y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        on_cluster(cluster.scheduler_address),
    ):
        steps = match_steps(X, Y)
        next(steps)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        *_, far = steps
    assert isinstance(far, pairup.Matching)
    np.testing.assert_array_equal(far.indices, here.indices)
    np.testing.assert_array_equal(far.confidence, here.confidence)


def test_known_pairs_that_tell_nothing_new_change_nothing(rng, skewed):
    X, Y, truth = skewed(rng, noise=0.3)
    blind = pairup.match(X, Y)
    right = np.flatnonzero(blind.indices == truth)[:3]
    known = pairup.match(X, Y, anchors=[(int(i), int(truth[i])) for i in right])
    assert (known.indices == truth).mean() >= (blind.indices == truth).mean()


def test_what_the_votes_leave_goes_to_likely_partners(rng):
    """With noise no pair is sure, and yet the expected partner is nearer to the true one than the chosen is."""
    t = rng.beta(1.2, 3.0, size=(60, 1))
    X = np.hstack([t, t**2, np.sin(3 * t)]) + 0.08 * rng.normal(size=(60, 3))
    Y = np.hstack([np.exp(t), t, np.cos(2 * t)]) + 0.08 * rng.normal(size=(60, 3))
    m = pairup.match(X, Y)
    expected = m.probabilities @ Y / m.probabilities.sum(axis=1, keepdims=True)
    assert np.linalg.norm(expected - Y, axis=1).mean() < 0.9 * np.linalg.norm(Y[m.indices] - Y, axis=1).mean()
    assert m.probabilities.sum(axis=1).max() < 1 + 1e-6


def make_frames(rng, n=20):
    pandas = pytest.importorskip("pandas")
    age, town = rng.integers(18, 90, size=n), rng.choice(["Ulm", "Kiel", "Bonn", "Mainz"], size=n)
    order = rng.permutation(n)
    x = pandas.DataFrame({"age": age, "town": town, "pay": rng.gamma(2.0, size=n)})
    y = pandas.DataFrame({"age": age[order], "town": town[order], "desk": rng.gamma(2.0, size=n)})
    return x, y, age, town


def test_common_columns_decide_where_the_others_are_unrelated(rng):
    x, y, age, town = make_frames(rng)
    matching = pairup.match(x, y)
    found = y.iloc[matching.indices]
    assert ((found["age"].to_numpy() == age) & (found["town"].to_numpy() == town)).mean() > 0.9
    assert "Compared directly: age, town." in matching.report
    assert "By the common columns alone about" in matching.report


def test_columns_of_one_name_that_mean_different_things_do_no_harm(rng):
    Z = rng.gamma(2.0, size=(60, 4)) * [4, 3, 2, 1]
    turned = Z @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    names, order = ["long", "wide", "high", "deep"], rng.permutation(60)
    moved = turned + Z.mean(axis=0) - turned.mean(axis=0)
    pandas = pytest.importorskip("pandas")
    x, y = pandas.DataFrame(Z, columns=names), pandas.DataFrame(moved[order], columns=names)
    matching = pairup.match(x, y)
    assert (order[matching.indices] == np.arange(60)).mean() > 0.9
    assert matching.reliable
    assert "the pairing is found without them" in matching.report


def test_common_columns_alone_decide_where_the_others_are_equal(rng):
    x, y, age, _ = make_frames(rng)
    matching = pairup.match(x.assign(pay=np.arange(20) % 2), y.assign(desk=[*range(19), 5]), on=["age", "town"])
    assert (y["age"].to_numpy()[matching.indices] == age).mean() >= 0.9
    constant = pairup.match(pairup.tables.as_table(x[["age", "pay"]].assign(pay=1.0), "X"), y[["age", "desk"]])
    assert (y["age"].to_numpy()[constant.indices] == age).mean() > 0.9


def test_numeric_frames_without_common_columns_give_what_arrays_give(rng):
    pandas = pytest.importorskip("pandas")
    X, Y = rng.gamma(2.0, size=(12, 3)), rng.gamma(2.0, size=(12, 2))
    frames = pandas.DataFrame(X, columns=list("abc")), pandas.DataFrame(Y, columns=list("de"))
    assert pairup.match(*frames, method="ks-hsic") == pairup.match(X, Y, method="ks-hsic")
    of_frames, of_arrays = pairup.match(*frames), pairup.match(X, Y)
    assert of_frames == of_arrays
    assert pairup.match(frames[0], frames[0], on="none") == pairup.match(X, X)


def test_on_and_prior_are_not_mixed_and_need_columns(rng):
    x, y, _, _ = make_frames(rng)
    with pytest.raises(ValueError, match="on and prior both say which pairs are likely; pass one of them"):
        pairup.match(x, y, on=["age"], prior=np.zeros((20, 20)))
    with pytest.raises(ValueError, match="names columns, and X and Y have none; pass DataFrames"):
        pairup.match(x.select_dtypes("number").to_numpy(), np.ones((20, 2)), on=["age"])
