import os
import signal
from dataclasses import replace

import numpy as np
import pytest

import pairup
import pairup.metrics
from pairup.annealing import NO_ANCHORS, Terms
from pairup.auto import breed, clearly_better, estimate_pairs, search, solve
from pairup.datasets import shuffle_pair
from pairup.kernels import squared_distances
from pairup.problem import Problem
from pairup.search import Basin, Outlook
from pairup.views import views


def test_match_finds_the_truth_and_knows_it(rng, skewed):
    X, Y, truth = skewed(rng)
    m = pairup.match(X, Y)
    assert (m.indices == truth).mean() > 0.9
    assert m.reliable
    assert m.confidence.mean() > 0.8
    assert "identify" in m.report


def test_columns_in_wild_units_are_matched_with_a_mixture_of_them():
    rng = np.random.default_rng(0)  # a mixture that no other view sees through
    Z = rng.gamma(1.5, size=(80, 4))
    X, Y, truth = shuffle_pair(Z * [1, 1e3, 1e-3, 10], Z @ rng.normal(size=(4, 6)) * [1e2, 1, 1, 1e-2, 5, 1], 0)
    m = pairup.match(X, Y)
    assert (m.indices == truth).mean() > 0.9
    assert m.reliable
    assert "whitened in 4" in m.report


def rolled_sheet(seed):
    """A sheet, denser at one corner, rolled up in space: what is coarse leads astray."""
    rng = np.random.default_rng(seed)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(50) ** 1.3), 21 * rng.random(50) ** 1.5
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return shuffle_pair(np.c_[t * np.cos(t), h, t * np.sin(t)], np.c_[arc, h], random_state=seed)


def test_populations_match_a_rolled_sheet_with_the_sheet(monkeypatch):
    sets = [rolled_sheet(seed) for seed in (1, 4)]
    bred = [(pairup.match(X, Y).indices == truth).mean() for X, Y, truth in sets]
    monkeypatch.setattr("pairup.auto.breed", lambda *args: [])
    alone = [(pairup.match(X, Y).indices == truth).mean() for X, Y, truth in sets]
    assert np.mean(bred) > np.mean(alone) + 0.3


def test_populations_are_bred_only_where_no_view_stands_out_and_believed_only_where_they_agree(rng, monkeypatch):
    X, Y, truth = rolled_sheet(1)
    ways, terms = list(views(X, Y)), Terms(50, 50, 50, NO_ANCHORS)
    lost = rng.permutation(50)
    clear, unclear = ([Outlook(w.name, [Basin(terms.start(lost), lost, v)], 0.5) for w in ways] for v in (0.8, 0.6))
    calls, parents = [], []

    def evolve(views, weights, terms, solutions, kernels, seed):
        calls.append(seed)
        parents.append(solutions)
        return [found[len(calls) - 1]]

    monkeypatch.setattr("pairup.auto.evolve", evolve)
    found = [truth, lost]
    assert breed(ways, clear, terms, 0, None) == []
    assert calls == []
    assert breed(ways, unclear, terms, 0, None) == []
    assert calls == [0, 1]
    calls.clear()
    found = [truth, truth, truth]
    assert len(breed(ways, unclear, terms, 0, None)) == 3
    assert calls == [0, 1, 2]
    assert all((p == truth).all() for p in parents[-1])  # the third descends from both
    few = Terms(20, 50, 20, NO_ANCHORS)
    many = Terms(700, 50, 50, NO_ANCHORS)
    assert breed(ways, unclear, few, 0, None) == breed(ways, unclear, many, 0, None) == []
    assert calls == [0, 1, 2]


def test_known_pairs_breed_only_where_the_data_alone_do(rng, skewed, monkeypatch):
    calls = []
    monkeypatch.setattr("pairup.auto.breed", lambda *args: calls.append(args) or [])
    for (X, Y, truth), times in ((skewed(rng), 1), (rolled_sheet(1), 2)):
        calls.clear()
        pairup.match(X, Y, anchors=[(0, int(truth[0]))])
        assert len(calls) == times


def test_match_says_when_there_is_nothing_to_find(rng):
    m = pairup.match(rng.normal(size=(60, 5)), rng.normal(size=(60, 6)))
    assert m.reliable is False
    assert m.confidence.mean() < 0.3
    assert "Do not rely" in m.report


def test_few_objects_without_a_relation_are_seldom_believed():
    believed = 0
    for seed in range(16):
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


def test_one_view_is_enough(rng, skewed):
    X, Y, truth = skewed(rng, n=50)
    assert (pairup.match(X, Y, metric="euclidean").indices == truth).mean() > 0.9
    DX, DY = (np.sqrt(squared_distances(Z)) for Z in (X, Y))
    distances = pairup.match(DX, DY, metric="precomputed")
    assert (distances.indices == truth).mean() > 0.9
    kernels = pairup.match(X @ X.T, Y @ Y.T, kernel="precomputed")
    assert (kernels.indices == truth).mean() > 0.9
    with pytest.raises(ValueError, match="translate needs a matching of two tables"):
        distances.translate(X)
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


def test_directions_of_one_column_are_not_believed(rng):
    m = pairup.match(1 + rng.random((20, 1)), rng.normal(size=(20, 3)), metric="cosine")
    assert not m.reliable
    assert "equal" in m.report


def test_angles_are_compared_with_unrelated_angles(rng):
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 4))
    assert next(Problem.checked(X, Y, metric="cosine").views()).on_sphere
    assert not next(Problem.checked(X, Y, metric="euclidean").views()).on_sphere


def test_sets_without_variation_are_not_believed(rng):
    m = pairup.match(np.ones((20, 3)), rng.normal(size=(20, 2)))
    assert m.reliable is False
    assert "all objects of X are equal" in m.report
    assert sorted(m.indices.tolist()) == list(range(20))


@pytest.mark.parametrize("metric", ["auto", "cosine", "euclidean"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(("far", "spread"), [(1e6, 1e-7), (1.7e9, 1e-3), (0.0, 1e-170)])
def test_sets_with_hardly_any_variation_are_not_believed(rng, far, spread, columns, metric):
    still = far + spread * rng.normal(size=(12, columns))
    for sets in ((still, rng.normal(size=(12, 3))), (rng.normal(size=(12, 3)), still)):
        m = pairup.match(*sets, metric=metric)
        assert m.reliable is False
        assert np.isfinite(m.confidence).all()


def test_duplicates_are_harmless(rng, skewed):
    X, Y, truth = skewed(rng, n=50)
    X[10:25] = X[10]
    Y[truth[10:25]] = Y[truth[10]]
    m = pairup.match(X, Y)
    assert pairup.metrics.match_accuracy(m.indices, truth, Y) > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": [(0, 99)]}, r"the anchor \(0, 99\) is out of range"),
        ({"anchors": [(0, 1), (0, 1)]}, "given twice"),
        ({"anchors": [(0, 1), (0, 2)]}, "x 0 the partners 1 and 2"),
        ({"anchors": [(0, 1), (2, 1)]}, "y 1 the partners 0 and 2"),
        ({"anchors": [(0.5, 1)]}, "pairs"),
        ({"prior": np.ones((3, 3))}, r"\(20, 20\), got shape \(3, 3\)"),
        ({"prior": np.full((20, 20), np.nan)}, "prior contains NaN"),
        ({"prior_weight": 1.0}, "come with a prior"),
        ({"overlap": 0.0}, r"\(0, 1\], got 0.0"),
        ({"overlap": 1.5}, r"\(0, 1\], got 1.5"),
        ({"overlap": "most"}, "or 'auto', got 'most'"),
        ({"metric": "manhattan"}, "got 'manhattan'"),
        ({"metric": "precomputed"}, "symmetric distance matrix"),
        ({"kernel": "rbf"}, "'precomputed', got 'rbf'"),
        ({"method": "ks-hsic", "overlap": 0.5}, "overlap can be used with method='auto' only"),
    ],
)
def test_bad_arguments_are_refused(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        pairup.match(rng.normal(size=(20, 3)), rng.normal(size=(20, 4)), **arguments)


@pytest.fixture(scope="module")
def matched(skewed):
    rng = np.random.default_rng(5)
    X, Y, truth = skewed(rng, n=80)
    return X, Y, truth, pairup.match(X, Y)


def test_candidates_are_ordered_and_start_with_the_partner(matched):
    *_, m = matched
    partners, likely = m.candidates(3)
    assert partners.shape == likely.shape == (80, 3)
    assert (np.diff(likely, axis=1) <= 0).all()
    sure = m.confidence > 0.6
    np.testing.assert_array_equal(partners[sure, 0], m.indices[sure])
    assert (m.probabilities.sum(axis=1) <= 1 + 1e-9).all()


def test_suggestions_are_different_and_not_known_yet(matched):
    X, Y, truth, m = matched
    pairs = m.suggest(5)
    assert len({i for i, _ in pairs}) == 5
    assert all(m.indices[i] == j for i, j in pairs)
    first = pairs[0][0]
    told = pairup.match(X, Y, anchors=[(first, int(truth[first]))])
    assert first not in {i for i, _ in told.suggest(80)}


def test_suggestions_ask_where_the_doubt_is(matched):
    X, *_, m = matched
    doubtful = X[:, 0] > np.median(X[:, 0])
    unsure = replace(m, confidence=np.where(doubtful, 0.1, 0.99))
    assert np.mean([doubtful[i] for i, _ in unsure.suggest(8)]) > 0.8
    apart = [X[i] for i, _ in unsure.suggest(2)]
    assert np.linalg.norm(apart[0] - apart[1]) > np.median(np.linalg.norm(X - X.mean(axis=0), axis=1))


def test_suggestions_go_on_where_known_pairs_leave_off(matched):
    *_, m = matched
    unsure = replace(m, confidence=np.full(80, 0.5))
    first = unsure.suggest(1)[0][0]
    known = replace(m, confidence=np.where(np.arange(80) == first, 1.0, 0.5))
    assert known.suggest(3) == unsure.suggest(4)[1:]
    alone = replace(unsure, indices=np.where(np.arange(80) < 40, m.indices, -1), confidence=np.repeat([0.5, 0.0], 40))
    assert all(i < 40 for i, _ in alone.suggest(10))


def test_new_objects_are_translated_and_assigned(matched):
    X, Y, truth, m = matched
    middle = X.mean(axis=0, keepdims=True)
    assert np.linalg.norm(m.translate(middle) - Y.mean(axis=0)) < np.linalg.norm(Y - Y.mean(axis=0), axis=1).mean()
    part = np.arange(0, 80, 2)
    order = np.random.default_rng(1).permutation(len(part))
    p = m.assign(X[part] * 1.001, Y[truth[part]][order])
    assert (order[p] == np.arange(len(part))).mean() > 0.6


def test_a_saved_matching_is_the_same(matched, tmp_path):
    *_, m = matched
    m.save(tmp_path / "m.npz")
    again = pairup.Matching.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(again.indices, m.indices)
    np.testing.assert_array_equal(again.confidence, m.confidence)
    assert again.report == m.report
    assert again.to_dict() == m.to_dict()
    assert [s.value for s in again.history] == [s.value for s in m.history]
    assert len(again.alternatives) == len(m.alternatives)
    np.testing.assert_allclose(again.translate(m.sets[0][:2]), m.translate(m.sets[0][:2]))


def test_saved_files_of_newer_formats_and_other_files_are_refused(matched, tmp_path, monkeypatch):
    *_, m = matched
    monkeypatch.setattr("pairup.matching.FORMAT", 99)
    m.save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format 99, and this pairup reads formats up to 1"):
        pairup.Matching.load(tmp_path / "new.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(ValueError, match="is not a saved matching"):
        pairup.Matching.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="is not a saved matching"):
        pairup.Matching.load(tmp_path / "other.npz")


def test_the_paper_methods_can_be_saved_too(rng, tmp_path, skewed):
    X, Y, _ = skewed(rng, n=20)
    m = pairup.match(X, Y, method="ks-hsic")
    m.save(tmp_path / "m.npz")
    assert pairup.Matching.load(tmp_path / "m.npz").to_dict() == m.to_dict()
    with pytest.raises(ValueError, match="candidates needs a matching"):
        m.candidates()


def test_the_picture_shows_what_there_is(matched):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    *_, m = matched
    display = m.plot()
    assert len(display.axes_) == 3
    assert sum(bar.get_height() for bar in display.axes_[1].patches) == 80
    assert "reliable" in display.title
    plt.close(display.figure_)


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
    from pairup.matching import Matching, match_steps
    from pairup.parallel import on_cluster

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
    assert isinstance(far, Matching)
    np.testing.assert_array_equal(far.indices, here.indices)
    np.testing.assert_array_equal(far.confidence, here.confidence)


def test_known_pairs_that_tell_nothing_new_change_nothing(rng, skewed):
    X, Y, truth = skewed(rng, noise=0.3)
    blind = pairup.match(X, Y)
    right = np.flatnonzero(blind.indices == truth)[:3]
    known = pairup.match(X, Y, anchors=[(int(i), int(truth[i])) for i in right])
    assert (known.indices == truth).mean() >= (blind.indices == truth).mean()


def test_an_answer_has_to_be_clearly_better(rng, skewed):
    X, Y, _ = skewed(rng)
    both = list(views(X, Y))[:2]
    terms = Terms(60, 60, 60, NO_ANCHORS)
    found = drain(search(both, (), [terms], [], pool=[], seed=0, n_jobs=None))
    worse = replace(found, consensus=replace(found.consensus, indices=rng.permutation(60)))
    assert clearly_better(found, worse, None)
    assert not clearly_better(worse, found, None)
    assert not clearly_better(found, found, None)


def drain(steps):
    """Return what a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_what_the_votes_leave_goes_to_likely_partners(rng):
    """With noise no pair is sure, and yet the expected partner is nearer to the true one than the chosen is."""
    t = rng.beta(1.2, 3.0, size=(60, 1))
    X = np.hstack([t, t**2, np.sin(3 * t)]) + 0.08 * rng.normal(size=(60, 3))
    Y = np.hstack([np.exp(t), t, np.cos(2 * t)]) + 0.08 * rng.normal(size=(60, 3))
    m = pairup.match(X, Y)
    expected = m.probabilities @ Y / m.probabilities.sum(axis=1, keepdims=True)
    assert np.linalg.norm(expected - Y, axis=1).mean() < 0.9 * np.linalg.norm(Y[m.indices] - Y, axis=1).mean()
    assert m.probabilities.sum(axis=1).max() < 1 + 1e-6


def test_the_number_of_pairs_is_estimated_whichever_candidate_is_best(rng, skewed):
    X, Y, _ = skewed(rng)
    *_, answer = solve(Problem.checked(X, Y), seed=0, n_jobs=None)
    joint_first = sorted(answer.consensus.candidates, key=lambda candidate: candidate.view != "joint")
    assert joint_first[0].view == "joint"
    answer = replace(answer, consensus=replace(answer.consensus, candidates=joint_first))
    assert 50 <= estimate_pairs(answer) <= 60
