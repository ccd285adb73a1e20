"""A studio that is killed while it works: what was acknowledged is there, and the work goes on."""

import httpx2
import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number, colour in enumerate(np.random.default_rng(0).integers(0, 255, (30, 3), dtype=np.uint8)):
        Image.fromarray(np.full((24, 32, 3), colour)).save(folder / f"{number}.png")
    return folder


def wait(requests, address, when):
    for _ in range(2000):
        view = requests.get(address).json()
        if when(view):
            return view
    raise AssertionError(view)


def test_nothing_acknowledged_is_lost_and_the_job_goes_on(run_studio, photos):
    studio = run_studio(str(photos))
    project = studio.address.rpartition("/")[2]
    port = studio.url.rpartition(":")[2]
    address, actions = f"/api/projects/{project}", f"/api/album/{project}/actions"
    transport = httpx2.HTTPTransport(retries=3)
    with httpx2.Client(base_url=studio.url, transport=transport, timeout=60) as requests:
        wait(requests, address, lambda view: len(view["document"]["photos"]) == 30)
        requests.post(f"/api/album/{project}/jobs", json={"task": "arrange"})
        wait(requests, address, lambda view: view["document"]["order"])
        pinned = set()
        for round_ in range(3):
            assert requests.post(f"/api/album/{project}/jobs", json={"task": "arrange", "seed": round_}).is_success
            for photo in range(3 * round_, 3 * round_ + 3):
                action = {"type": "pin", "photos": [photo], "pinned": True}
                assert requests.post(actions, json=action).is_success
                pinned.add(photo)
            studio.kill()
            studio = run_studio("--port", port)
            view = requests.get(address).json()
            assert set(view["document"]["pins"]) == pinned
            ended = wait(requests, address, lambda view: view["job"] and view["job"]["status"] == "done")
            assert set(ended["document"]["pins"]) == pinned
            assert sorted(item for item in ended["document"]["order"] if item >= 0) == list(range(30))
