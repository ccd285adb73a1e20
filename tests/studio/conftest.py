"""A studio in this process, a studio in a process of its own, and a browser."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra: pip install 'pairup[studio]'")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thumbnails of tests stay out of the user's cache."""
    monkeypatch.setenv("PAIRUP_CACHE", str(tmp_path_factory.mktemp("cache")))


class RunningStudio:
    """``pairup studio`` in a process of its own.

    `url` is its address, `kill` ends it as a power cut would, `stop` as Ctrl-C does.
    """

    def __init__(self, workspace: Path, *arguments: str) -> None:
        self.workspace = workspace
        command = [sys.executable, "-W", "error", "-m", "pairup", "studio", "--no-browser", "--workspace"]
        self.process = subprocess.Popen(
            [*command, str(workspace), *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"http://\S+", self.said)
        assert found, self.said + self.process.stderr.read()
        self.address = found[0]
        self.url = re.match(r"http://[^/]+", self.address)[0]  # type: ignore[index]

    def kill(self) -> None:
        self.process.kill()
        self._wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self._wait()

    def _wait(self) -> int:
        code = self.process.wait(20)
        assert self.process.stderr is not None
        self.rest = self.process.stderr.read()
        self.process.stderr.close()
        return code


@pytest.fixture(scope="module")
def module_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a studio that all tests of a file share."""
    running: list[RunningStudio] = []

    def run(*arguments: str) -> RunningStudio:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PAIRUP_CACHE", str(tmp_path_factory.mktemp("cache")))
            running.append(RunningStudio(tmp_path_factory.mktemp("workspace"), *arguments))
        return running[-1]

    yield run
    for studio in running:
        if studio.process.poll() is None:
            studio.kill()


@pytest.fixture
def run_studio(tmp_path: Path) -> Iterator[Any]:
    """Start studios in processes of their own; they are stopped in the end."""
    running: list[RunningStudio] = []

    def run(*arguments: str, workspace: Path | None = None) -> RunningStudio:
        running.append(RunningStudio(workspace or tmp_path / "workspace", *arguments))
        return running[-1]

    yield run
    for studio in running:
        if studio.process.poll() is None:
            studio.kill()


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Any]:
    """A studio in this process, without a server."""
    from pairup.studio.server import KINDS
    from pairup.studio.service import Studio
    from pairup.studio.workspace import Workspace

    made = Studio(Workspace(tmp_path / "workspace"), KINDS)
    yield made
    made.close()


@pytest.fixture
def client(studio: Any) -> Iterator[Any]:
    """Requests to that studio, without a network."""
    from fastapi.testclient import TestClient

    from pairup.studio.server import create_app

    with TestClient(create_app(studio), base_url="http://localhost") as made:
        yield made


@pytest.fixture(scope="module")  # while playwright runs, nothing else can use an event loop in this thread
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: python3 dev.py test installs it")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("needs Chromium or Chrome on the PATH")
    flags = ["--no-sandbox", "--disable-gpu"]
    flags += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]  # a microphone that beeps
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test where a script fails or something is blocked."""
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("filechooser", lambda _: None)  # so that playwright takes choosers over before the first is opened
    opened.problems = errors
    yield opened
    opened.close()
    unexpected = [error for error in errors if "ERR_CONNECTION" not in error and "net::ERR" not in error]
    assert unexpected == []


@pytest.fixture
def tab_to() -> Any:
    """Reach something by the Tab key alone, as who has no mouse does; every stop on the way has a name and is seen."""

    def reach(page: Any, name: str, most: int = 60) -> None:
        seen = []
        for _ in range(most):
            page.keyboard.press("Tab")
            stop = page.evaluate(FOCUSED)
            seen.append(stop["name"])
            assert stop["name"], (seen, stop)
            assert stop["width"] > 0, (seen, stop)
            if stop["name"].startswith(name):
                return
        raise AssertionError(f"no {name!r} among {seen}")

    return reach


FOCUSED = """() => {
    const at = document.activeElement, box = at.getBoundingClientRect();
    const label = at.labels?.[0]?.innerText ?? "";
    const name = at.getAttribute("aria-label") ?? (label || at.innerText || at.title || "");
    return { name: name.trim(), width: box.width * box.height, html: at.outerHTML.slice(0, 200) };
}"""


@pytest.fixture
def check_access() -> Any:
    """Check a page with axe-core: nothing serious may be found, in light and in dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="python3 dev.py test installs it")

    def check(page: Any) -> None:
        for theme in ("light", "dark"):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            found = axe.Axe().run(page).response["violations"]
            serious = [
                f"{theme}: {rule['id']} {node['target']} {node['failureSummary']}"
                for rule in found
                if rule["impact"] in ("serious", "critical")
                for node in rule["nodes"]
            ]
            assert serious == []

    return check
