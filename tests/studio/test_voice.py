"""The kind "voice", by its addresses."""

import time

import pytest

from pairup.datasets import make_voices
from pairup.studio.project import Project
from pairup.studio.voice import Document, list_kept, start_with


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Six words of each speaker as WAV files."""
    folder = tmp_path_factory.mktemp("words")
    voices = make_voices(7)
    for side in ("source", "target"):
        for number, recording in enumerate(getattr(voices, side)):
            recording.save(folder / f"{side} {number}.wav")
    return folder


def make(client, **more):
    return client.post("/api/projects", json={"kind": "voice", **more}).json()["id"]


def send(client, project, role, content, name="a.wav"):
    return client.post(f"/api/projects/{project}/files", params={"role": role, "name": name}, content=content)


def run(client, project, job):
    """Run a job to its end and return the project."""
    answer = client.post(f"/api/voice/{project}/jobs", json=job)
    assert answer.status_code == 202, answer.text
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        view = client.get(f"/api/projects/{project}").json()
        if view["job"]["status"] in ("done", "failed", "cancelled"):
            return view
        time.sleep(0.02)
    raise AssertionError("the job did not end")


def act(client, project, **action):
    return client.post(f"/api/voice/{project}/actions", json=action)


def test_from_upload_to_download(client, words):
    project = make(client)
    for role, numbers in (("source", range(3)), ("target", range(3, 6))):
        for number in numbers:
            path = words / f"{role} {number}.wav"
            assert send(client, project, role, path.read_bytes(), path.name).status_code == 201
    send(client, project, "source", b"no sound at all", "notes.wav")
    given = send(client, project, "input", (words / "source 6.wav").read_bytes(), "hello.wav").json()["id"]
    view = run(client, project, {"task": "look"})
    problems = [file["details"]["problem"] for file in view["files"] if "problem" in file["details"]]
    assert problems == ["notes.wav cannot be read as sound; expected wav, flac, ogg, mp3 or aiff"]

    view = run(client, project, {"task": "learn"})
    voice = view["document"]["voice"]
    assert view["can_undo"] == "learn the voice"
    assert len(voice["sources"]) == len(voice["targets"]) == 3
    assert voice["pitch"] == pytest.approx([118, 204], rel=0.1)
    assert act(client, project, type="choose", synthesis="residual").status_code == 200
    run(client, project, {"task": "convert", "files": [given]})
    assert act(client, project, type="choose", synthesis="world").status_code == 200
    view = run(client, project, {"task": "convert", "files": [given, voice["sources"][0]]})
    results = view["document"]["results"]
    assert [(each["name"], each["synthesis"]) for each in results] == [
        ("hello.wav", "world"), ("source 0.wav", "world"), ("hello.wav", "residual")]  # fmt: skip
    assert view["note"] == "voice learned, 3 converted"

    sound = client.get(f"/api/voice/{project}/sounds/{results[0]['id']}", headers={"range": "bytes=0-99"})
    assert (sound.status_code, sound.headers["content-type"], len(sound.content)) == (206, "audio/wav", 100)
    assert client.get(f"/api/voice/{project}/sounds/{given}").content == (words / "source 6.wav").read_bytes()
    saved = client.get(f"/api/voice/{project}/results/{results[0]['id']}/download")
    assert "filename*=utf-8''hello%20%28converted%29.wav" in saved.headers["content-disposition"]
    saved = client.get(f"/api/voice/{project}/voices/{voice['id']}/download")
    assert saved.headers["content-disposition"].startswith("attachment")
    assert saved.content[:2] == b"PK"
    assert len(client.get(f"/api/voice/{project}/outlines/{given}").json()) == 240
    assert client.get(f"/api/voice/{project}/results/{results[0]['id']}/envelopes").json()["points"] == 96

    assert act(client, project, type="remove_result", result=results[0]["id"]).json()["note"].endswith("2 converted")
    assert act(client, project, type="remove_result", result=results[0]["id"]).status_code == 409
    view = client.post(f"/api/projects/{project}/undo").json()
    assert len(view["document"]["results"]) == 3


def test_recordings_are_removed_and_put_back(client):
    project = make(client)
    first, second = (send(client, project, "source", b"sound").json() for _ in range(2))
    view = act(client, project, type="remove", files=[first["id"], first["id"]]).json()
    assert view["document"]["removed"] == [first["id"]]
    assert view["can_undo"] == "remove a.wav"
    view = act(client, project, type="remove", files=[first["id"], second["id"]]).json()
    assert view["document"]["removed"] == [first["id"], second["id"]]
    assert act(client, project, type="put_back", files=[first["id"]]).json()["document"]["removed"] == [second["id"]]
    view = client.post(f"/api/projects/{project}/undo").json()
    assert len(view["document"]["removed"]) == 2
    assert act(client, project, type="remove", files=["0" * 16]).status_code == 409
    assert act(client, project, type="remove", files=["../../etc"]).status_code == 422
    answer = client.post(f"/api/voice/{project}/jobs", json={"task": "learn"})
    assert (answer.status_code, answer.json()["detail"]) == (
        409, "there is no recording of the source yet; drop one in or record one")  # fmt: skip


def test_what_cannot_work_is_refused_with_what_to_do(client, studio, words):
    project = make(client)
    answer = client.post(f"/api/voice/{project}/jobs", json={"task": "convert"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "no voice was learned yet; learn it first")
    assert send(client, project, "photo", b"x").json()["detail"].startswith("files of this project may be: source")
    assert send(client, project, "source", b"").json()["detail"] == "the file is empty"
    for role in ("source", "target"):
        file = send(client, project, role, (words / f"{role} 0.wav").read_bytes()).json()
        studio.workspace.open(project).describe_file(file["id"], {"seconds": 1000.0})
    answer = client.post(f"/api/voice/{project}/jobs", json={"task": "learn"})
    assert answer.json()["detail"].startswith(
        "the recordings of the source last 17 minutes; a voice is learned from 15"
    )
    for bad in ({"task": "convert", "files": ["x"]}, {"task": "sing"}, {"task": "learn", "frames": 3}, {}):
        assert client.post(f"/api/voice/{project}/jobs", json=bad).status_code == 422


@pytest.mark.parametrize(
    "path", ["sounds/{}", "outlines/{}", "results/{}/envelopes", "results/{}/download", "voices/{}/download"]
)
def test_unknown_and_foreign_addresses_are_not_found(client, path):
    project = make(client)
    other = client.post("/api/projects", json={"kind": "match"}).json()["id"]
    for home in (project, other, "0" * 16):
        assert client.get(f"/api/voice/{home}/{path.format('0' * 16)}").status_code == 404
    assert client.get(f"/api/voice/{project}/{path.format('..%2f..%2fproject.sqlite')}").status_code in (404, 422)


def test_too_large_a_recording_is_refused(client, studio, monkeypatch):
    project = make(client)
    monkeypatch.setitem(studio.kinds["voice"].roles, "input", 1_000_000)
    answer = send(client, project, "input", bytes(1_000_001))
    assert (answer.status_code, answer.json()["detail"]) == (413, "a file like this may have 1 MB at most")
    assert client.get(f"/api/projects/{project}").json()["files"] == []


def test_the_demo_goes_from_making_to_hearing_and_only_one_page_begins(client):
    project = make(client, demo=True)
    for step in ("demo", "look", "learn", "convert"):
        assert client.get(f"/api/projects/{project}").json()["document"]["begin"] == step
        assert act(client, project, type="begin", step=step).status_code == 200
        assert act(client, project, type="begin", step=step).status_code == 409
        view = run(client, project, {"task": step, "onward": True})
        assert view["job"]["status"] == "done", view["job"]
    assert [each["name"] for each in view["document"]["results"]] == ["word 21 ieu.wav", "word 22 aio.wav"]
    assert (view["document"]["begin"], view["cover"], view["name"]) == ("", True, "Demo voices")
    assert len(view["files"]) == 22


def test_files_of_the_command_line_are_read_where_they_are(tmp_path, words):
    (tmp_path / "p").mkdir()
    project = Project.create(tmp_path / "p" / ("0" * 16), kind="voice", name="n", document=Document().model_dump())
    anna = tmp_path / "anna"
    anna.mkdir()
    for name in ("b.wav", "a.flac", "notes.txt"):
        (anna / name).write_bytes(b"x")
    start_with(project, [anna, words / "target 0.wav", words / "source 1.wav", words / "source 2.wav"])
    files = [(file.role, file.name) for file in project.files()]
    assert files == [("source", "a.flac"), ("source", "b.wav"), ("target", "target 0.wav"),
                     ("input", "source 1.wav"), ("input", "source 2.wav")]  # fmt: skip
    assert project.locate(project.files("target")[0].id) == words / "target 0.wav"
    assert project.document["begin"] == "look"
    assert list_kept(project, Document(), "source") == []  # not read yet
    project.close()
