"""Albums by the studio's addresses, with a real worker."""

import io
import time
from pathlib import Path

import numpy as np
import pytest
from album_photos import write_photos
from PIL import Image

from pairup.studio.album import KIND, list_photos, list_unread

HEIC = Path(__file__).parents[1] / "album" / "turned.heic"


def wait(studio, project):
    """Wait for the last job of a project; return its view."""
    for _ in range(2000):
        job = studio.jobs.latest(project)
        if job.has_ended and not studio.jobs._active:
            return job.view
        time.sleep(0.02)
    raise AssertionError(job.view)


class Hand:
    """Requests to one album."""

    def __init__(self, client, studio, project):
        self.client, self.studio, self.id = client, studio, project

    def act(self, **action):
        return self.client.post(f"/api/album/{self.id}/actions", json=action)

    def run(self, **job):
        answer = self.client.post(f"/api/album/{self.id}/jobs", json=job)
        assert answer.status_code == 202, answer.text
        return wait(self.studio, self.id)

    def get(self, path):
        return self.client.get(f"/api/album/{self.id}/{path}")

    def post(self, path):
        return self.client.post(f"/api/projects/{self.id}/{path}").json()

    def upload(self, name, content, role="photo"):
        return self.client.post(f"/api/projects/{self.id}/files?role={role}&name={name}", content=content)

    @property
    def view(self):
        return self.client.get(f"/api/projects/{self.id}").json()


@pytest.fixture
def hand(client, studio):
    return Hand(client, studio, client.post("/api/projects", json={"kind": "album"}).json()["id"])


def test_from_a_folder_to_every_kind_of_change(client, studio, tmp_path):
    photos = write_photos(tmp_path / "photos")
    before = {path: path.read_bytes() for path in photos.iterdir()}
    project = studio.start_with("album", [photos], "Holiday")
    assert [file.role for file in list_unread(project)] == ["folder"]
    hand = Hand(client, studio, project.id)
    assert [request for _, request, _ in project.pending_jobs] == [{"task": "read"}]
    studio.resume()  # as the server does when it starts
    assert wait(studio, project.id).status == "done"
    assert list_unread(project) == []
    assert len(list_photos(project)) == 12
    assert not any((project.folder / "files").iterdir())  # read where they are
    view = hand.view
    assert (view["document"]["arranged"], view["can_undo"], view["note"]) == (False, None, "12 photos")
    assert hand.run(task="arrange").status == "done"
    view = hand.view
    assert sorted(view["document"]["order"]) == list(range(12))
    assert view["document"]["quality"]["likeness"] > 1
    assert (view["cover"], view["can_undo"]) == (True, None)

    first = view["document"]["order"]
    assert hand.act(type="swap", first=0, second=1).json()["can_undo"] == "swap two photos"
    assert hand.act(type="pin", photos=[first[5]], pinned=True).status_code == 200
    assert hand.act(type="frame", frame={"kind": "shape", "name": "ring"}).json()["document"]["arranged"] is False
    assert hand.run(task="arrange", seed=1).status == "done"
    ring = hand.view
    assert (ring["document"]["frame"]["name"], ring["can_undo"]) == ("ring", "change the frame")
    undone = hand.post("undo")
    assert (undone["document"]["frame"]["kind"], undone["document"]["order"][:2]) == ("auto", [first[1], first[0]])
    for _ in range(2):
        undone = hand.post("undo")
    assert undone["document"]["order"] == first
    for _ in range(3):
        redone = hand.post("redo")
    assert redone["document"] == ring["document"]

    assert hand.run(task="export", format="csv").status == "done"
    assert hand.run(task="export", format="csv").status == "done"
    (made,) = [file for file in hand.view["files"] if file["role"] == "export"]  # the one before is replaced
    answer = client.get(f"/api/projects/{project.id}/files/{made['id']}")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(answer.text.splitlines()) == 13
    assert before == {path: path.read_bytes() for path in photos.iterdir()}

    (sheet,) = [sheet for sheet in hand.get("sheets").json() if sheet["level"] == 128]
    tiles = hand.get(f"sheets/128/crop/0/{sheet['count']}")
    assert (tiles.status_code, tiles.headers["content-type"]) == (200, "image/jpeg")
    large = hand.get("photos/3?side=32&quarters=1")
    assert Image.open(io.BytesIO(large.content)).size == (21, 32)
    preview = client.post(f"/api/album/{project.id}/frame", json={"frame": {"kind": "text", "text": "7"}})
    assert (len(preview.json()["cells"]), preview.json()["photos"]) == (12, 12)


def test_uploads_of_all_sorts(hand):
    names = ["<img src=x onerror=alert(1)>.png", "phone.heic", "bomb.png", "notes.txt"]
    small = io.BytesIO()
    Image.new("RGB", (50, 40), "teal").save(small, "PNG")
    bomb = io.BytesIO()
    Image.new("1", (10100, 10100)).save(bomb, "PNG")
    for name, content in zip(names, (small.getvalue(), HEIC.read_bytes(), bomb.getvalue(), b"text"), strict=True):
        assert hand.upload(name, content).status_code == 201
    assert hand.run(task="read").status == "done"
    files = {file["name"]: file["details"] for file in hand.view["files"]}
    assert files[names[0]]["number"] == 0
    assert files["bomb.png"]["skipped"].startswith("too large")
    assert "not a picture" in files["notes.txt"]["skipped"]
    if "number" in files["phone.heic"]:  # the extra may lack its decoder
        assert Image.open(io.BytesIO(hand.get("photos/1?side=40").content)).height == 40
    assert hand.run(task="read").status == "done"  # nothing new
    mask = io.BytesIO()
    Image.fromarray(np.zeros((20, 30), dtype=np.uint8)).save(mask, "PNG")
    made = hand.upload("mask.png", mask.getvalue(), "mask").json()
    assert hand.act(type="frame", frame={"kind": "mask", "file": made["id"]}).status_code == 200
    assert hand.run(task="arrange").status == "done"
    assert hand.act(type="frame", frame={"kind": "text", "text": "\U0010fffe"}).status_code == 200
    assert "no font" in hand.run(task="arrange").error


@pytest.mark.parametrize(
    "path",
    [
        "sheets/128/crop/0/999",
        "sheets/64/crop/0/1",
        "sheets/128/..%2F..%2Fx/0/1",
        "sheets/128/crop/-1/1",
        "photos/0",
        "photos/-1",
        "photos/..%2F..%2Fproject.sqlite",
        "photos/99999999999999999999999",
    ],
)
def test_addresses_of_nothing(hand, path):
    assert hand.get(path).status_code in (404, 422)


def test_bounds_of_a_preview(hand):
    for query in ("side=0", "side=100000", "side=x", "quarters=4"):
        assert hand.get(f"photos/0?{query}").status_code == 422


def test_an_album_without_photos_refuses_to_be_arranged(hand):
    for job in ({"task": "arrange"}, {"task": "export", "format": "png"}):
        answer = hand.client.post(f"/api/album/{hand.id}/jobs", json=job)
        assert (answer.status_code, answer.json()["detail"][:9]) == (409, "the album")
    answer = hand.client.post(f"/api/album/{hand.id}/frame", json={"frame": {"kind": "mask", "file": "0" * 16}})
    assert answer.status_code == 409


def test_other_kinds_have_no_sheets(client):
    other = client.post("/api/projects", json={"kind": "voice"}).json()["id"]
    for path in ("sheets", "photos/0", "sheets/40/crop/0/1"):
        assert client.get(f"/api/album/{other}/{path}").status_code == 404


def test_the_demo_waits_to_be_read(client, studio):
    made = client.post("/api/projects", json={"kind": "album", "demo": True}).json()
    (file,) = list_unread(studio.workspace.open(made["id"]))
    assert file.role == "demo"


def test_a_photo_that_is_removed_while_a_job_arranges_stays_removed(studio):
    from pairup.studio.album_document import Arrange, Document

    document = Document(photos=[0, 2], removed=[1], cells=[[0, 0]], order=[0], arranged=False)
    quality = {"likeness": 1.5, "dpq": 0.8, "random": 0.4, "kept": 0.3}
    cells, frame = [[0, 0], [0, 1], [0, 2]], document.frame.model_dump()
    result = {"frame": frame, "cells": cells, "order": [2, 1, 0], "quality": quality}
    change = KIND.finish(None, document, Arrange(task="arrange"), result)
    assert change.document.order == [2, -1, 0]
    assert not change.undoable
    # and a frame that was undone meanwhile stays undone
    assert KIND.finish(None, document, Arrange(task="arrange"), {**result, "frame": {"kind": "grid"}}) is None


def test_a_pin_that_came_while_a_job_arranged_holds_and_the_quality_is_asked_for_anew():
    from pairup.studio.album_document import Arrange, Document

    cells = [[0, 0], [0, 1], [0, 2]]
    document = Document(photos=[0, 1, 2], cells=cells, order=[0, 1, 2], pins=[2], arranged=True)
    quality = {"likeness": 1.5, "dpq": 0.8, "random": 0.4, "kept": 0.3}
    result = {"frame": document.frame.model_dump(), "cells": cells, "order": [2, 1, 0], "quality": quality}
    change = KIND.finish(None, document, Arrange(task="arrange"), result)
    assert (change.document.order, change.document.pins, change.document.quality) == ([0, 1, 2], [2], None)


def test_the_quality_is_that_of_the_present_places(hand, tmp_path):
    assert hand.get("quality").status_code == 409  # no photo has a place yet
    for path in sorted(write_photos(tmp_path / "photos").iterdir()):
        hand.upload(path.name, path.read_bytes())
    hand.run(task="read")
    hand.run(task="arrange")
    arranged = hand.view["document"]
    assert hand.get("quality").json() == arranged["quality"]
    cells = arranged["cells"]
    far = max(range(12), key=lambda cell: abs(cells[cell][0] - cells[0][0]) + abs(cells[cell][1] - cells[0][1]))
    hand.act(type="swap", first=0, second=far)
    assert hand.view["document"]["quality"] == arranged["quality"]  # what it was when it was arranged
    assert hand.get("quality").json()["likeness"] < arranged["quality"]["likeness"]


def test_photos_that_were_read_when_the_studio_was_killed_are_not_lost(studio, tmp_path):
    from pairup.studio.album_document import Document, Read

    project = studio.create("album")
    project.add_files(
        "photo", [("a" * 16, "a.jpg", tmp_path, {"number": 0}), ("b" * 16, "b.jpg", tmp_path, {"number": 1})]
    )
    nothing = {"files": [], "sources": []}
    assert KIND.finish(project, Document(), Read(task="read"), nothing).document.photos == [0, 1]
    assert KIND.finish(project, Document(photos=[0], removed=[1]), Read(task="read"), nothing) is None
