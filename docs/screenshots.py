"""Take pictures of every page of the studio, light and dark, wide and narrow.

    .venv/bin/python docs/screenshots.py FOLDER            all pages, as PNG
    .venv/bin/python docs/screenshots.py --docs            those of the docs, as WebP, into docs/_static

Needs Chromium on the PATH. Each project is the studio's own demo, and the pictures show it when its first work is done.
"""

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

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


def take(url: str, names: set[str] | None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of each picture."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium found; install it (package chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        maker = browser.new_page(viewport=SIZES["wide"])
        projects = {}
        for kind in reversed(KINDS):
            made = maker.request.post(f"{url}/api/projects", data={"kind": kind, "demo": True}).json()
            maker.goto(f"{url}/{kind}/{made['id']}")
            wait_until_done(maker, url, made["id"])
            projects[kind] = made["id"]
        pages = {"home": "/", **{kind: f"/{kind}/{projects[kind]}" for kind in KINDS}}
        for size, viewport in SIZES.items():
            for theme in ("light", "dark"):
                page = browser.new_page(viewport=viewport, color_scheme=theme, device_scale_factor=1.5)
                for name, path in pages.items():
                    title = f"{name}-{size}-{theme}"
                    if names is None or title in names:
                        page.goto(url + path)
                        page.wait_for_timeout(2500)
                        if name == "match":
                            show_pair(page)
                        yield title, page.screenshot()
                page.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the pictures go")
    parser.add_argument("--docs", action="store_true", help="make those of the docs")
    options = parser.parse_args()
    if options.docs == (options.folder is not None):
        parser.error("give a folder, or --docs")
    began = time.monotonic()
    with studio() as url:
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
