"""Photos in a folder, and a browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

image = pytest.importorskip("PIL.Image", reason="needs the extra: pip install 'pairup[album]'")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thumbnails of tests stay out of the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("PAIRUP_CACHE", str(folder))
    return folder / "thumbnails"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve small photos of one colour each, with a lighter corner."""
    place = tmp_path / "photos"
    place.mkdir()
    for i, colour in enumerate(np.random.default_rng(0).integers(0, 200, (12, 3))):
        pixels = np.full((90, 120, 3), colour, dtype=np.uint8)
        pixels[:30, :40] += 50
        image.fromarray(pixels).save(place / f"img{i + 1}.png")
    return place


@pytest.fixture(scope="module")  # while playwright runs, nothing else can use an event loop in this thread
def browser() -> Iterator[object]:
    """The system's Chromium, driven by playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: python3 dev.py test installs it")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("needs Chromium or Chrome on the PATH")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()
