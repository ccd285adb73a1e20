"""Take pictures of every page of the studio, light and dark, wide and narrow.

    .venv/bin/python docs/screenshots.py FOLDER                    all pages, as PNG
    .venv/bin/python docs/screenshots.py FOLDER --photos PHOTOS    with an album of one's own photos besides
    .venv/bin/python docs/screenshots.py --docs                    those of the docs, as WebP, into docs/_static

Needs Chromium on the PATH. Each project is the studio's own demo, and the pictures show it when its first work is done;
besides, an album with a photo selected and with one enlarged, and empty projects and tables before they are matched.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from pairup.studio.match_demo import make_tables

SIZES = {"wide": {"width": 1280, "height": 800}, "narrow": {"width": 390, "height": 844}}
KINDS = ("album", "match", "voice")
IN_DOCS = ("home-wide-light", "album-wide-dark", "match-wide-light", "voice-wide-light")
STATIC = Path(__file__).parent / "_static"


@contextmanager
def studio(*arguments: str) -> Iterator[str]:
    """Run a studio on a workspace of its own, and yield its address."""
    with tempfile.TemporaryDirectory() as workspace:
        command = [sys.executable, "-m", "pairup", "studio", "--no-browser", "--workspace", workspace, *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.search(r"http://[^/\s]+", said)
            if found is None:
                sys.exit(said + process.stderr.read())
            yield found[0]
        finally:
            process.terminate()
            process.wait(10)


def wait_until_done(page: Any, url: str, project: str, settle: int = 1500) -> None:
    """Wait until the jobs of a project are done and its page has come to rest."""
    quiet = 0
    while quiet < 3:
        job = page.request.get(f"{url}/api/projects/{project}").json()["job"]
        quiet = quiet + 1 if job and job["status"] == "done" else 0
        page.wait_for_timeout(400)
    page.wait_for_timeout(settle)


def show_pair(page: Any) -> None:
    """Join a pair in the picture of both sets, and bring the answer of the match to the top."""
    picture, caption = page.locator("canvas.picture"), page.locator(".pictures .caption")
    for _ in range(77):
        picture.press("ArrowRight")
        if caption.inner_text().startswith("Munich"):
            break
    page.evaluate("document.activeElement.blur()")
    page.evaluate("scrollBy(0, document.querySelector('.verdict').getBoundingClientRect().top - 70)")
    page.wait_for_timeout(300)


def select_photo(page: Any) -> None:
    """Show the tools of a photo in the middle of an album."""
    page.evaluate("() => { const { album } = document.querySelector('.stage'); album.select(150); }")
    page.wait_for_timeout(300)


def enlarge_photo(page: Any) -> None:
    """Show a photo of an album large."""
    page.evaluate("() => { const { album } = document.querySelector('.stage'); album.enlarge(150); }")
    page.wait_for_timeout(1500)


def leave(page: Any) -> None:
    """Show a page as it opens."""


def make_pages(maker: Any, url: str, bare: bool) -> Iterator[tuple[str, tuple[str, Callable[[Any], None]]]]:
    """Make the projects, and yield the name of each picture, its address, and what is done before it is taken.

    With `bare` only the demos are made, so that the home page of the docs shows nothing else.
    """

    def make(kind: str, **options: Any) -> str:
        return str(maker.request.post(f"{url}/api/projects", data={"kind": kind, **options}).json()["id"])

    for project in maker.request.get(f"{url}/api/projects").json()["projects"]:
        if project["kind"] == "album":  # that of the command line
            maker.goto(f"{url}/album/{project['id']}")
            wait_until_done(maker, url, project["id"])
            yield "photos", (f"/album/{project['id']}", leave)
            yield "photos-selected", (f"/album/{project['id']}", select_photo)
    demos = {}
    for kind in reversed(KINDS):
        demos[kind] = make(kind, demo=True)
        maker.goto(f"{url}/{kind}/{demos[kind]}")
        wait_until_done(maker, url, demos[kind])
    yield "home", ("/", leave)
    yield "album", (f"/album/{demos['album']}", leave)
    yield "album-selected", (f"/album/{demos['album']}", select_photo)
    yield "album-enlarged", (f"/album/{demos['album']}", enlarge_photo)
    yield "match", (f"/match/{demos['match']}", show_pair)
    yield "voice", (f"/voice/{demos['voice']}", leave)
    if bare:
        return
    empty = {kind: make(kind) for kind in KINDS}
    tables = make("match", name="Before it runs")
    for side, name, text in zip(("x", "y"), ("places.csv", "facts.csv"), make_tables(), strict=True):
        address = f"{url}/api/projects/{tables}/files?role={side}&name={name}"
        file = maker.request.post(address, data=text.encode()).json()["id"]
        action = {"type": "choose", "side": side, "file": file}
        maker.request.post(f"{url}/api/match/{tables}/actions", data=action)
    maker.goto(f"{url}/match/{tables}")
    wait_until_done(maker, url, tables)
    yield "match-before", (f"/match/{tables}", leave)
    for kind in KINDS:
        yield f"{kind}-empty", (f"/{kind}/{empty[kind]}", leave)


def take(url: str, names: set[str] | None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of each picture."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium found; install it (package chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        maker = browser.new_page(viewport=SIZES["wide"])
        pages = dict(make_pages(maker, url, bare=names is not None))
        for size, viewport in SIZES.items():
            for theme in ("light", "dark"):
                page = browser.new_page(viewport=viewport, color_scheme=theme, device_scale_factor=1.5)
                for name, (path, show) in pages.items():
                    title = f"{name}-{size}-{theme}"
                    if names is None or title in names:
                        page.goto(url + path)
                        page.wait_for_timeout(2500)
                        show(page)
                        yield title, page.screenshot()
                page.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the pictures go")
    parser.add_argument("--docs", action="store_true", help="make those of the docs")
    parser.add_argument("--photos", type=Path, help="a folder of photos for one more album")
    options = parser.parse_args()
    if options.docs == (options.folder is not None):
        parser.error("give a folder, or --docs")
    began = time.monotonic()
    with studio(*([] if options.photos is None else [str(options.photos)])) as url:
        for title, content in take(url, set(IN_DOCS) if options.docs else None):
            if options.docs:
                path = STATIC / f"studio-{title}.webp"
                Image.open(io.BytesIO(content)).convert("RGB").save(path, quality=82, method=6)
            else:
                options.folder.mkdir(parents=True, exist_ok=True)
                path = options.folder / f"{title}.png"
                path.write_bytes(content)
            print(f"{time.monotonic() - began:5.1f} s  {path}")


if __name__ == "__main__":
    main()
