"""Addresses of a match."""

import json

import pytest

from pairup.studio.match_document import Answer, Document, Settings

RESULT = "ab" * 8
VIEW = {
    "names": [["<b>Ann</b>", "Bob"], ["anna", "bobby"]],
    "partners": [0, 1],
    "confidence": [0.9, 0.3],
    "candidates": [[[0, 0.9]], [[1, 0.3], [0, 0.2]]],
    "columns": [["age"], ["years"]],
    "cells": [[["1"], ["2"]], [["5"], ["6"]]],
    "before": None,
}


@pytest.fixture
def project(studio, client):
    """A project with a result as a worker leaves it."""
    made = studio.create("match")
    folder = made.folder / "results" / RESULT
    folder.mkdir(parents=True)
    (folder / "pairs-view.json").write_text(json.dumps(VIEW), encoding="utf-8")
    for name in ("picture.json", "code.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    (folder / "pairs.csv").write_text("x,y\n", encoding="utf-8")
    answer = Answer(id=RESULT, settings=Settings(), rows=(2, 2), pairs=2, tone="good", verdict="fine")
    made.commit(Document(answer=answer).model_dump(mode="json"), "match")
    return made.id


def test_pairs_come_page_by_page(client, project):
    page = client.get(f"/api/match/{project}/results/{RESULT}/pairs?limit=1").json()
    assert page["total"] == 2
    assert [row["name"] for row in page["rows"]] == ["Bob"]
    judged = {"type": "judge", "x": 1, "y": 0, "as": "confirmed"}
    assert client.post(f"/api/match/{project}/actions", json=judged).status_code == 200
    page = client.get(f"/api/match/{project}/results/{RESULT}/pairs?show=confirmed").json()
    assert page["rows"][0]["chosen"]["name"] == "anna"


def test_files_are_downloaded_under_fixed_names(client, project):
    answer = client.get(f"/api/match/{project}/results/{RESULT}/files/pairs.csv")
    assert answer.text == "x,y\n"
    assert 'filename="pairs.csv"' in answer.headers["content-disposition"]
    for name in ("picture", "code"):
        assert client.get(f"/api/match/{project}/results/{RESULT}/{name}").json() == {}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("results/{r}/pairs?limit=0", 422),
        ("results/{r}/pairs?limit=1000", 422),
        ("results/{r}/pairs?offset=-1", 422),
        ("results/{r}/pairs?show=everything", 422),
        ("results/{r}/pairs?only=x", 422),
        ("results/{r}/files/pairs.json", 404),
        ("results/{r}/files/pairs-view.json", 422),
        ("results/{r}/files/..%2f..%2fproject.sqlite", 404),
        ("results/..%2f..%2f/pairs", 404),
        ("results/0000000000000000/pairs", 404),
        ("results/nothing/pairs", 422),
        ("looks/0000000000000000", 404),
        ("looks/..%2fproject", 404),
    ],
)
def test_what_is_not_there_is_refused(client, project, address, status):
    assert client.get(f"/api/match/{project}/{address.format(r=RESULT)}").status_code == status


def test_other_kinds_have_no_pairs(client, studio):
    other = studio.create("album").id
    assert client.get(f"/api/match/{other}/results/{RESULT}/pairs").status_code == 404
