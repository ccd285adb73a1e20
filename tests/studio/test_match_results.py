"""The list of pairs, page by page."""

import json
import time

import pytest

from pairup.studio.match_results import Choice, Judgements, Result, read_result


def make_result(**changes):
    fields = {
        "names": [["Ann", "Bob", "Cid", "Dee"], ["anna", "bobby", "cyd", "dee"]],
        "partners": [0, 1, 3, -1],
        "confidence": [0.9, 0.3, 0.7, 0.1],
        "candidates": [[(0, 0.9)], [(1, 0.3), (2, 0.25)], [(3, 0.7), (2, 0.2)], []],
        "columns": [["age"], ["years"]],
        "cells": [[["1"], ["2"], ["3"], ["4"]], [["5"], ["6"], ["7"], ["8"]]],
        "before": [0, 2, 3, 1],
    }
    return Result(**(fields | changes))


def rows(page):
    return [row.row for row in page.rows]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(), [3, 1, 2, 0]),
        (Choice(order="sure"), [0, 2, 1, 3]),
        (Choice(order="row"), [0, 1, 2, 3]),
        (Choice(order="name"), [0, 1, 2, 3]),
        (Choice(show="uncertain", order="row"), [1, 2, 3]),
        (Choice(show="changed", order="row"), [1, 3]),
        (Choice(show="alone"), [3]),
        (Choice(search="BOB"), [1]),
        (Choice(search="dee"), [3, 2]),
        (Choice(search="cid dee"), [2]),
        (Choice(only=2), [2]),
        (Choice(offset=1, limit=2), [1, 2]),
        (Choice(offset=9), []),
    ],
)
def test_what_is_listed(choice, expected):
    assert rows(make_result().page(choice, Judgements())) == expected


def test_what_was_confirmed_and_rejected_is_told():
    judged = Judgements(anchors=[(1, 2), (0, 0)], forbidden=[(2, 3)])
    page = make_result().page(Choice(order="row"), judged)
    ann, bob, cid, dee = page.rows
    assert ann.partner.judged == "confirmed"
    assert ann.chosen is None
    assert bob.chosen.name == "cyd"
    assert bob.chosen.probability == 0.25
    assert bob.before == "cyd"
    assert cid.partner.judged == "rejected"
    assert cid.candidates[1].judged == "open"
    assert cid.cells == ["3"]
    assert dee.partner is None
    assert dee.before == "bobby"
    assert page.counts == {"all": 4, "uncertain": 2, "changed": 2, "confirmed": 2, "rejected": 1, "alone": 1}
    assert rows(make_result().page(Choice(show="confirmed", order="row"), judged)) == [0, 1]
    assert rows(make_result().page(Choice(show="rejected"), judged)) == [2]


def test_without_probabilities_the_order_is_that_of_the_file():
    page = make_result(confidence=None, candidates=None, before=None).page(Choice(), Judgements())
    assert rows(page) == [0, 1, 2, 3]
    assert page.rows[0].confidence is None
    assert page.counts["uncertain"] == page.counts["changed"] == 0


def test_ten_thousand_pairs_take_a_moment(tmp_path):
    n = 10_000
    fields = {
        "names": [[f"row {i}" for i in range(n)]] * 2,
        "partners": list(range(n)),
        "confidence": [i / n for i in range(n)],
        "candidates": [[[i, 0.5]] * 5 for i in range(n)],
        "columns": [["a"], ["b"]],
        "cells": [[["1"]] * n] * 2,
        "before": list(range(n)),
    }
    path = tmp_path / "pairs-view.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    result = read_result(path)
    start = time.process_time()
    for offset in range(0, n, 1000):
        page = result.page(Choice(search="row 9", offset=offset % 1000), Judgements())
    assert page.total == n - 9**4  # all numbers below 10,000 with a 9
    assert (time.process_time() - start) / 10 < 0.1
