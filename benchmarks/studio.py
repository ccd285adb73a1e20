"""The studio, measured: watched while it works, killed at random moments, and asked at random.

    python3 dev.py bench studio figures [--photos FOLDER]     times, frame times, memory, idle CPU
    python3 dev.py bench studio crashes [--times 20]          killed in the middle of a job while a page acts
    python3 dev.py bench studio fuzz [--requests 10000]       requests made up by hypothesis, and by schemathesis where
                                                              that is installed; no answer may be 5xx

`figures` and `crashes` drive the system's Chromium. Without photos, 320 pictures of the demo are used.
"""

import argparse
import importlib.util
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

JSON = {"content-type": "application/json"}


class Studio:
    """``pairup studio`` in a process of its own."""

    def __init__(self, workspace: Path, *arguments: str) -> None:
        self.began = time.perf_counter()
        command = [sys.executable, "-m", "pairup", "studio", "--no-browser", "--workspace", str(workspace), *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.search(r"(http://[^/\s]+)(/\S*)?", said)
        assert found, said
        self.url, self.path = found[1], found[2] or "/"
        self.started = time.perf_counter() - self.began

    def processes(self) -> list[psutil.Process]:
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def end(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)
        self.process.wait(20)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("no Chromium found; install it (package chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def wait_for_job(page: Any, url: str, project: str, quiet: int = 4, *, begun: bool = True) -> None:
    """Wait until no job of a project works any more; where none may have `begun`, also if there is none."""
    still = 0
    while still < quiet:
        job = page.request.get(f"{url}/api/projects/{project}").json()["job"]
        works = job["status"] in ("queued", "running") if job else begun
        still = 0 if works else still + 1
        page.wait_for_timeout(250)


WATCH = """project => {
  window.seen = []; window.frames = [];
  const began = performance.now();
  const source = new EventSource(`/api/projects/${project}/events`);
  source.addEventListener("step", event => {
    const step = JSON.parse(event.data);
    window.seen.push([performance.now() - began, step.progress, step.text, Boolean(step.order)]);
  });
  let last = began;
  const frame = now => { window.frames.push(now - last); last = now; window.watching = requestAnimationFrame(frame); };
  window.watching = requestAnimationFrame(frame);
}"""


def make_photos(folder: Path, count: int) -> None:
    """Write photos of 640 × 480: crops of the demo pictures, in many tones."""
    import numpy as np
    from PIL import Image

    from pairup.datasets import load_tiles

    folder.mkdir(exist_ok=True)
    rng, tiles = np.random.default_rng(0), load_tiles(320)
    for number in range(count):
        tone = rng.uniform(0.6, 1.2, 3)
        picture = np.clip(tiles[number % len(tiles)] * tone, 0, 255).astype(np.uint8)
        Image.fromarray(picture).resize((640, 480)).save(folder / f"photo {number:04d}.jpg", quality=88)


def measure_figures(photos: Path | None) -> None:
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        folder = Path(place)
        if photos is None:
            photos = folder / "photos"
            make_photos(photos, 320)
        _measure_album(browser, folder / "one", photos)
        for turn in range(3):
            _measure_start(browser, folder / f"start {turn}", photos)
        many = folder / "many"
        make_photos(many, 2000)
        studio = Studio(folder / "two", str(many))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(studio.url + studio.path)
        wait_for_job(page, studio.url, studio.path.rpartition("/")[2], quiet=12)
        memory = [process.memory_info().rss / 1e6 for process in studio.processes()]
        page.evaluate(WATCH, studio.path.rpartition("/")[2])
        page.evaluate(
            """async path => { await fetch(path, {method: "POST", headers: {"content-type":
            "application/json"}, body: JSON.stringify({task: "arrange", seed: 5})}) }""",
            f"/api{studio.path}/jobs",
        )
        wait_for_job(page, studio.url, studio.path.rpartition("/")[2])
        told = [process.memory_info().rss / 1e6 for process in studio.processes()]
        most = [read_peak(process.pid) for process in studio.processes()]
        frames = sorted(page.evaluate("window.frames"))
        print(
            f"2,000 photos: memory {sum(memory):.0f} MB after arranging once, {sum(told):.0f} MB after twice, "
            f"at most {sum(most):.0f} MB"
        )
        print(f"2,000 photos: frame times while gliding, 95th percentile {frames[int(0.95 * len(frames))]:.0f} ms")
        studio.end()


MARK = """window.marks = {};
const mark = (name, now) => { window.marks[name] ??= (performance.timeOrigin + now) / 1000; };
new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").forEach((entry) =>
  mark("paint", entry.startTime))).observe({ type: "paint", buffered: true });
const Source = EventSource;
window.EventSource = class extends Source {
  constructor(address) {
    super(address);
    this.addEventListener("step", (event) => { if (JSON.parse(event.data).order) mark("draft", performance.now()); });
  }
};"""


def _measure_start(browser: Any, workspace: Path, photos: Path) -> None:
    """Print how long ``pairup studio photos/`` takes to the first paint and to the draft; thumbnails are cached."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(MARK)
    page.wait_for_timeout(2000)  # the browser is open and at rest, as a user's is
    psutil.cpu_times_percent(None)
    began = time.time()
    studio = Studio(workspace, str(photos))
    page.goto(studio.url + studio.path, wait_until="commit")
    while "draft" not in (marks := page.evaluate("window.marks")):
        page.wait_for_timeout(20)
    used = [sum(process.cpu_times()[:2]) for process in studio.processes()]
    idle = psutil.cpu_times_percent(None)
    wait_for_job(page, studio.url, studio.path.rpartition("/")[2])
    print(
        f"start with a folder: answers after {studio.started:.2f} s, first paint after {marks['paint'] - began:.2f} s, "
        f"draft after {marks['draft'] - began:.2f} s; CPU of server and worker until then {used[0]:.2f} s and "
        f"{sum(used[1:]):.2f} s; the machine was idle for {idle.idle:.0f} %"
    )
    page.close()
    studio.end()


def read_peak(pid: int) -> float:
    """Return the most memory that a process had, in MB; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def _measure_album(browser: Any, workspace: Path, photos: Path) -> None:
    """Print the figures of an album of a few hundred photos, whose small versions are cached."""
    first = Studio(workspace, str(photos))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(first.url + first.path)
    project = first.path.rpartition("/")[2]
    wait_for_job(page, first.url, project)
    count = len(page.request.get(f"{first.url}/api/projects/{project}").json()["document"]["photos"])
    page.close()
    first.end()
    studio = Studio(workspace)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    began = time.perf_counter()
    page.goto(f"{studio.url}/album/{project}")
    page.wait_for_selector("canvas")
    opened = time.perf_counter() - began
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(
        f"{count} photos: the studio answers {studio.started:.2f} s after its start; page: first contentful paint "
        f"{painted:.0f} ms, album on the page {1000 * opened:.0f} ms after the address is opened"
    )
    page.evaluate(WATCH, project)
    page.wait_for_timeout(300)
    page.evaluate(
        """async project => { window.clicked = performance.now(); await fetch(`/api/album/${project}/jobs`,
        {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({task: "arrange",
        seed: 7})}) }""",
        project,
    )
    wait_for_job(page, studio.url, project)
    steps = page.evaluate("window.seen")
    frames = sorted(page.evaluate("window.frames.slice(2)"))
    start = steps[0][0]
    orders = [step for step in steps if step[3]]
    texts: dict[str, float] = {}
    for moment, _, text, _ in steps:
        texts[re.sub(r"[\d,]+", "N", text)] = (moment - start) / 1000
    print(
        f"{count} photos: first order {(orders[0][0] - start) / 1000:.2f} s after the job began; last moment of each "
        f"stage: {', '.join(f'{text} {moment:.2f} s' for text, moment in texts.items())}"
    )
    print(
        f"{count} photos: {len(frames)} frames while tiles glide, median {statistics.median(frames):.1f} ms, 95th "
        f"percentile {frames[int(0.95 * len(frames))]:.1f} ms"
    )
    page.evaluate("cancelAnimationFrame(window.watching)")
    began = time.perf_counter()
    job = page.request.post(f"{studio.url}/api/album/{project}/jobs", data={"task": "arrange", "seed": 3}).json()
    page.wait_for_timeout(400)
    began = time.perf_counter()
    page.request.delete(f"{studio.url}/api/projects/{project}/jobs/{job['id']}")
    free = time.perf_counter() - began
    processes = studio.processes()
    while time.perf_counter() - began < 10:
        before = sum(sum(process.cpu_times()[:2]) for process in studio.processes())
        time.sleep(0.2)
        if sum(sum(process.cpu_times()[:2]) for process in studio.processes()) - before < 0.02:
            break
    print(
        f"cancel: answered after {1000 * free:.0f} ms, the work has stopped after "
        f"{time.perf_counter() - began - 0.2:.1f} s"
    )
    page.wait_for_timeout(2000)
    processes = studio.processes()
    before = sum(sum(process.cpu_times()[:2]) for process in processes)
    time.sleep(10)
    used = sum(sum(process.cpu_times()[:2]) for process in processes) - before
    print(
        f"idle with the page open: {used / 10:.2%} of a core; memory "
        f"{sum(process.memory_info().rss for process in processes) / 1e6:.0f} MB"
    )
    studio.end()
    page.close()


def measure_crashes(times: int, seed: int = 0) -> None:
    """Kill the studio while a job works and a page pins photos; count what was acknowledged and lost."""
    rng = random.Random(seed)
    lost = extra = resumed = ended = seen_by_page = 0
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        studio = Studio(Path(place))
        port = studio.url.rpartition(":")[2]
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        made = page.request.post(f"{studio.url}/api/projects", data={"kind": "album", "demo": True}).json()
        project = made["id"]
        page.goto(f"{studio.url}/album/{project}")
        wait_for_job(page, studio.url, project)
        pinned: set[int] = set()
        for number in range(times):
            page.request.post(f"{studio.url}/api/album/{project}/jobs", data={"task": "arrange", "seed": number})
            deadline = time.perf_counter() + rng.uniform(0.1, 2.5)
            sent: list[int] = []
            while time.perf_counter() < deadline:
                photo = rng.choice([n for n in range(320) if n not in pinned])
                sent.append(photo)
                answer = page.request.post(
                    f"{studio.url}/api/album/{project}/actions",
                    data={"type": "pin", "photos": [photo], "pinned": True},
                )
                if answer.ok:
                    pinned.add(photo)
            os.kill(studio.process.pid, signal.SIGKILL)
            studio.process.wait(10)
            studio = Studio(Path(place), "--port", port)
            view = page.request.get(f"{studio.url}/api/projects/{project}").json()
            found = set(view["document"]["pins"])
            lost += len(pinned - found)
            extra += len(found - pinned)
            job = view["job"]
            resumed += job is not None and job["status"] in ("queued", "running", "done")
            ended += job is None
            page.wait_for_selector('body[data-connected="yes"]', timeout=30_000)
            seen_by_page += 1
            wait_for_job(page, studio.url, project, begun=False)  # it may have ended before the kill
            view = page.request.get(f"{studio.url}/api/projects/{project}").json()
            lost += len(pinned - set(view["document"]["pins"]))
            if len(pinned) > 200:
                page.request.post(
                    f"{studio.url}/api/album/{project}/actions",
                    data={"type": "pin", "photos": sorted(pinned), "pinned": False},
                )
                pinned.clear()
        studio.end()
    print(
        f"{times} kills in the middle of a job: {lost} acknowledged actions lost, {extra} unacknowledged ones kept, "
        f"{resumed} jobs went on and {ended} had ended before, {seen_by_page} times the page found it again"
    )


def fuzz(requests: int) -> None:
    """Ask at random, first about projects that are there, then by schemathesis, and show what it says."""
    test = Path(__file__).parents[1] / "tests" / "studio" / "test_random_requests.py"
    asked = {**os.environ, "PAIRUP_REQUESTS": str(requests)}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)], env=asked, check=True)
    print(f"{requests:,} requests about projects that are there: none was answered by 5xx", flush=True)
    if importlib.util.find_spec("schemathesis") is None:
        print("schemathesis is not installed, so it asked nothing")
        return
    with tempfile.TemporaryDirectory() as place:
        studio = Studio(Path(place))
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{studio.url}/api/openapi.json", "--no-color"),
            *("--checks", "not_a_server_error", "--exclude-path-regex", "events", "--request-timeout", "20"),
            *("--phases", "coverage,fuzzing,stateful", "--max-examples", str(max(requests // 70, 1))),
        ]
        done = subprocess.run(command, check=False)
        assert studio.process.poll() is None, "the studio has died"
        studio.end()
        sys.exit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("figures").add_argument("--photos", type=Path)
    commands.add_parser("crashes").add_argument("--times", type=int, default=20)
    commands.add_parser("fuzz").add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    if options.command == "figures":
        measure_figures(options.photos)
    elif options.command == "crashes":
        measure_crashes(options.times)
    else:
        fuzz(options.requests)


if __name__ == "__main__":
    main()
