"""Addresses that all kinds share: projects, files, undo, jobs, events."""

import json
import time

import pytest
from counter_kind import TOY
from fastapi.testclient import TestClient

from pairup.studio.server import create_app
from pairup.studio.service import Studio
from pairup.studio.workspace import Workspace


@pytest.fixture
def toys(tmp_path):
    with TestClient(
        create_app(Studio(Workspace(tmp_path / "workspace"), {"album": TOY})), base_url="http://localhost"
    ) as made:
        yield made


@pytest.fixture
def made(toys):
    return toys.post("/api/projects", json={"kind": "album", "name": "Us"}).json()["id"]


def test_the_life_of_a_project(toys, made):
    assert toys.get(f"/api/projects/{made}").json()["name"] == "Us"
    assert toys.patch(f"/api/projects/{made}", json={"name": "Them"}).json()["name"] == "Them"
    copy = toys.post(f"/api/projects/{made}/duplicate").json()
    assert copy["name"] == "Them (copy)"
    assert [p["id"] for p in toys.get("/api/projects").json()["projects"]] == [copy["id"], made]
    assert toys.delete(f"/api/projects/{copy['id']}").status_code == 204
    assert toys.get(f"/api/projects/{copy['id']}").status_code == 404
    assert toys.post(f"/api/projects/{copy['id']}/restore").json()["id"] == copy["id"]
    assert toys.post(f"/api/projects/{copy['id']}/restore").status_code == 404


def test_actions_undo_and_redo(toys, made):
    assert toys.post(f"/api/album/{made}/actions", json={"type": "add", "by": 3}).json()["document"] == {"n": 3}
    assert toys.post(f"/api/projects/{made}/undo").json()["can_redo"] == "add 3"
    assert toys.post(f"/api/projects/{made}/redo").json()["document"] == {"n": 3}
    assert toys.get(f"/api/album/{made}/document").json() == {"n": 3}
    refused = toys.post(f"/api/album/{made}/actions", json={"type": "add", "by": -9})
    assert (refused.status_code, refused.json()["detail"]) == (409, "the counter cannot go below 0")


@pytest.mark.parametrize("wrong", [{}, {"type": "no"}, {"type": "add", "by": "x"}, {"type": "add", "by": 1e9}, [], 3])
def test_wrong_actions_are_told_in_one_sentence(toys, made, wrong):
    answer = toys.post(f"/api/album/{made}/actions", json=wrong)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"type": "\\ud800"}', b"[" * 100_000])
def test_malformed_json_is_refused(toys, made, body):
    answer = toys.post(f"/api/album/{made}/actions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..%2fetc", "%2e%2e%5c", "0" * 15, "0" * 16, "%00", "%F0%9F%8E%9E"])
def test_no_address_is_a_path(toys, made, name):
    for path in (
        f"/api/projects/{name}",
        f"/api/projects/{name}/cover",
        f"/api/projects/{name}/files/{'0' * 16}",
        f"/api/projects/{made}/files/{name}",
        f"/api/album/{name}/document",
        f"/static/{name}",
        f"/static/js/../../{name}",
        f"/album/{name}/{name}",
    ):
        assert toys.get(path).status_code in (404, 405, 422), path
    assert toys.post(f"/api/projects/{name}/undo").status_code in (404, 405, 422)
    assert toys.delete(f"/api/projects/{made}/jobs/{name}").status_code in (404, 405, 422)


def test_files_go_up_and_come_down(toys, made):
    address = f"/api/projects/{made}/files"
    sent = toys.post(f"{address}?role=photo&name=../%3Cb%3Ea.jpg", content=b"abc").json()
    assert (sent["name"], sent["size"], sent["role"]) == ("<b>a.jpg", 3, "photo")
    back = toys.get(f"{address}/{sent['id']}")
    assert (back.content, back.headers["content-type"]) == (b"abc", "image/jpeg")
    page = toys.post(f"{address}?role=photo&name=x.html", content=b"<script>alert(1)</script>").json()
    back = toys.get(f"{address}/{page['id']}")
    assert back.headers["content-type"] == "application/octet-stream"
    assert back.headers["content-disposition"].startswith("attachment")
    assert toys.post(f"{address}?role=photo&name=b", content=b"x" * 1001).status_code == 413
    assert toys.post(f"{address}?role=photo&name=b", content=b"").status_code == 409
    assert toys.post(f"{address}?role=script&name=b", content=b"x").status_code == 422
    assert [file["name"] for file in toys.get(f"/api/projects/{made}").json()["files"]] == ["<b>a.jpg", "x.html"]


def test_a_project_holds_so_many_files(toys, made, monkeypatch):
    monkeypatch.setattr("pairup.studio.routes.MOST_FILES", 1)
    address = f"/api/projects/{made}/files?role=photo&name=a"
    assert [toys.post(address, content=b"x").status_code for _ in range(2)] == [201, 409]


def test_a_job_is_started_followed_and_cancelled(toys, made):
    job = toys.post(f"/api/album/{made}/jobs", json={"task": "sleep", "seconds": 60, "parts": 100})
    assert job.status_code == 202
    began = time.monotonic()
    cancelled = toys.delete(f"/api/projects/{made}/jobs/{job.json()['id']}").json()
    assert cancelled["status"] == "cancelled"
    assert time.monotonic() - began < 0.5
    assert toys.delete(f"/api/projects/{made}/jobs/{'0' * 16}").status_code == 404
    assert toys.post(f"/api/album/{made}/jobs", json={"task": "dance"}).status_code == 422


def test_there_is_no_cover_before_there_is_a_picture(toys, made):
    assert toys.get(f"/api/projects/{made}/cover").status_code == 404
    folder = toys.app.state.studio.workspace.open(made).folder
    (folder / "cover.jpg").write_bytes(b"jpeg")
    assert toys.get(f"/api/projects/{made}/cover").headers["content-type"] == "image/jpeg"


def test_the_description_names_every_address(toys):
    description = toys.get("/api/openapi.json").json()
    assert "/api/projects/{project_id}/events" in description["paths"]
    assert "/api/album/{project_id}/actions" in description["paths"]
    assert json.dumps(description).count("ProjectView") > 3


def test_other_kinds_are_not_found(client):
    made = client.post("/api/projects", json={"kind": "match"}).json()["id"]
    assert client.get(f"/api/album/{made}/document").status_code == 404
