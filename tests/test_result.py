import datetime
import json
import pickle
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import pairup
from pairup.datasets import shuffle_pair


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


def test_new_objects_are_translated_and_assigned(matched):
    X, Y, truth, m = matched
    middle = X.mean(axis=0, keepdims=True)
    assert np.linalg.norm(m.translate(middle) - Y.mean(axis=0)) < np.linalg.norm(Y - Y.mean(axis=0), axis=1).mean()
    part = np.arange(0, 80, 2)
    order = np.random.default_rng(1).permutation(len(part))
    p = m.assign(X[part] * 1.001, Y[truth[part]][order])
    assert (order[p] == np.arange(len(part))).mean() > 0.6


def test_translations_spread_as_the_objects_they_are_carried_to(matched):
    X, Y, _, m = matched
    plain, spread = m.translate(X, spread=False), m.translate(X)
    assert plain.var(axis=0).sum() < spread.var(axis=0).sum()
    np.testing.assert_allclose(spread.var(axis=0).sum(), Y.var(axis=0).sum(), rtol=0.15)


def test_partners_are_softened_where_the_matching_is_not_reliable(matched):
    X, _, _, m = matched
    sure, unsure, unknown = (replace(m, reliable=value) for value in (True, False, None))
    np.testing.assert_array_equal(sure.translate(X), unknown.translate(X))
    assert unsure.translate(X, spread=False).var(axis=0).sum() < sure.translate(X, spread=False).var(axis=0).sum()


def test_the_expected_nearness_is_saved_and_told_to_programs(matched, tmp_path):
    *_, m = matched
    assert m.reliable
    assert m.nearness is None
    assert "nearness" not in m.to_dict()
    doubtful = replace(m, reliable=False, nearness=0.2)
    assert doubtful.to_dict()["nearness"] == 0.2
    doubtful.save(tmp_path / "m.npz")
    assert pairup.Matching.load(tmp_path / "m.npz").nearness == 0.2


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
    monkeypatch.setattr("pairup.saved_matching.FORMAT", 99)
    m.save(tmp_path / "new.npz")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format 99, and this pairup reads formats up to 2"):
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
    with pytest.raises(ValueError, match=r"candidates needs the probabilities .* by method='ks-hsic' has none"):
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


@pytest.fixture
def sorted_sets(rng):
    X = rng.exponential(size=(20, 1)) ** 1.5
    return shuffle_pair(X, 2 * X)


def test_data_frames_keep_their_index(sorted_sets):
    X, Y, _ = sorted_sets
    x = pd.DataFrame(X, index=[f"x{i}" for i in range(20)])
    y = pd.DataFrame(Y, index=[f"y{i}" for i in range(20)])
    frame = pairup.match(x, y, method="ks-hsic").to_frame()
    indices = pairup.match(X, Y, method="ks-hsic").indices
    assert frame["x"].tolist() == [f"x{i}" for i in range(20)]
    assert frame["y"].tolist() == [f"y{j}" for j in indices]


def test_a_matching_renders_as_json_and_csv(sorted_sets):
    X, Y, _ = sorted_sets
    matching = pairup.match(X, Y, method="ks-hsic")
    again = json.loads(json.dumps(matching.to_dict()))
    assert again["indices"] == matching.indices.tolist()
    lines = matching.to_csv().splitlines()
    assert lines[0].split(",")[:2] == ["x", "y"]
    assert len(lines) == 21


def test_matchings_compare_hash_and_pickle(matched, sorted_sets):
    *_, m = matched
    X, Y, _ = sorted_sets
    by_hsic = pairup.match(X, Y, method="ks-hsic")
    for one in (m, by_hsic):
        copy = pickle.loads(pickle.dumps(one))
        assert copy == one
        assert hash(copy) == hash(one)
        assert one in {copy}
        assert one != replace(one, indices=one.indices[::-1].copy())
        assert one != replace(one, names=(["a"] * len(one), one.names[1]))
        assert one != 3
    assert m != by_hsic


def test_the_repr_says_the_verdict_in_one_line(rng, matched, sorted_sets):
    *_, m = matched
    assert (
        repr(m)
        == f"<Matching: 80 pairs of 80 objects each by 'auto', about {m.reliability:.0%} expected right, reliable>"
    )
    noise = pairup.match(rng.normal(size=(20, 3)), rng.normal(size=(15, 3)))
    assert "\n" not in repr(noise)
    assert repr(noise).startswith("<Matching: 15 pairs of 20 and 15 objects by 'auto', about ")
    assert ", not reliable: " in repr(noise)
    X, Y, _ = sorted_sets  # of one column: any two such sets can be sorted against each other
    by_name = repr(pairup.match(X, Y, method="ks-hsic"))
    assert by_name.startswith("<Matching: 20 pairs of 20 objects each by 'ks-hsic', not reliable: any two sets")


def test_the_papers_methods_say_what_they_found(rng, skewed):
    X, Y, _ = skewed(rng, n=40)
    m = pairup.match(X, Y, method="ks-nocco")
    assert m.reliable is None
    assert m.verdict == m.evidence.verdict != ""
    assert m.verdict in repr(m)
    assert m.to_dict()["evidence"]["found"] == m.evidence.found
    assert m.report == str(m.evidence)
    noise = pairup.match(rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), method="ks-nocco")
    assert noise.reliable is False
    assert noise.verdict == "not reliable: the pairs are hardly more dependent than those found in unrelated sets"


def test_matchings_of_the_paper_are_drawn_with_their_verdict(rng, skewed):
    pytest.importorskip("matplotlib").use("Agg")
    related = pairup.match(*skewed(rng, n=40)[:2], method="ks-hsic")
    noise = pairup.match(rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), method="ks-hsic")
    for m in (related, noise):
        assert m.plot().figure_.get_suptitle() == f"ks-hsic: {m.verdict}"


class Tags(HTMLParser):
    """Counts tags, and checks that each is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_notebooks_show_the_verdict_a_histogram_and_the_first_pairs(matched):
    *_, m = matched
    named = m.with_names([f"<b>{i}</b>" for i in range(80)], range(80))
    page = Tags(named._repr_html_())
    assert page.seen.count("rect") == 20
    assert page.seen.count("tr") == 11
    assert "80 pairs by auto: about" in page.text
    assert "<b>3</b>" in page.text  # names are text
    assert "and 70 more rows" in page.text
    assert m.report.splitlines()[-1] in page.text


def test_notebooks_show_matchings_of_the_paper_and_none_at_all(sorted_sets):
    X, Y, _ = sorted_sets
    assert "svg" not in Tags(pairup.match(X[:5], Y[:5], method="ks-hsic")._repr_html_()).seen
    alone = replace(pairup.match(X, Y), indices=np.full(20, -1))
    assert "0 pairs" in Tags(alone._repr_html_()).text


def test_errors_tell_precomputed_input_from_a_method(sorted_sets):
    X, Y, _ = sorted_sets
    distances = pairup.match(np.abs(X - X.T), np.abs(Y - Y.T), metric="precomputed")
    for verb, arguments in (("translate", (X,)), ("assign", (X, Y))):
        with pytest.raises(ValueError, match=f"{verb} needs the two tables, .* from precomputed distances or kernels"):
            getattr(distances, verb)(*arguments)
        by_hsic = pairup.match(X, Y, method="ks-hsic")
        with pytest.raises(ValueError, match=f"{verb} needs .* by method='ks-hsic' does not keep them"):
            getattr(by_hsic, verb)(*arguments)


def test_the_old_name_of_with_names_warns(matched):
    *_, m = matched
    names = [f"a{i}" for i in range(80)]
    with pytest.warns(FutureWarning, match="with_names"):
        old = m.renamed(names, names)
    assert old == m.with_names(names, names)


def test_names_of_any_kind_can_be_written(sorted_sets, tmp_path):
    odd = [datetime.date(2024, 1, 1), Decimal("1.5"), b"b\xff", float("nan"), (1, 2), "\udcff", None]
    m = pairup.match(*sorted_sets[:2])
    names = (odd * len(m))[: len(m)]
    named = m.with_names(names, names)
    assert named.names[0] == names, "the names are kept"
    json.dumps(named.to_dict(), allow_nan=False)
    assert named.to_dict()["pairs"][0]["x"] == "2024-01-01"
    assert [line.split(",")[0] for line in named.to_csv().splitlines()[1:4]] == ["2024-01-01", "1.5", "b\\xff"]
    named.to_csv().encode()
    named.save(tmp_path / "m.npz")
    assert pairup.Matching.load(tmp_path / "m.npz").names[0][:2] == ["2024-01-01", "1.5"]


def test_expected_partners_are_weighted_means():
    P = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.0]])
    X, Y = np.array([[1.0], [9.0]]), np.array([[0.0, 3.0], [6.0, 0.0], [1.0, 1.0]])
    m = pairup.Matching(np.array([0, -1]), "auto", 0.0, None, [], ([0, 1], [0, 1, 2]), probabilities=P, sets=(X, Y))
    np.testing.assert_allclose(m.expected_partner(), [[2.0, 2.0], [np.nan, np.nan]])
    np.testing.assert_allclose(m.expected_partner(of="y"), [[1.0], [1.0], [np.nan]])
    with pytest.raises(ValueError, match="of must be 'x' or 'y', got 'z'"):
        m.expected_partner(of="z")


@pytest.mark.parametrize(("method", "words"), [("auto", "precomputed distances"), ("lsom", "match by method='auto'")])
def test_expected_partners_need_the_tables(method, words):
    m = pairup.Matching(np.array([0, 1]), method, 0.0, None, [], ([0, 1], [0, 1]), probabilities=np.eye(2))
    with pytest.raises(ValueError, match=f"expected_partner needs the two tables.*{words}"):
        m.expected_partner()
