"""A wall of a hundred thousand photos: read, sorted, written, killed and resumed, opened in a browser.

    python benchmarks/wall.py make FOLDER --photos 100000 --large 200    photos made from those of PAIRUP_DATA
    python benchmarks/wall.py read FOLDER       CPU seconds per photo beside plain Pillow, and pyvips if installed
    python benchmarks/wall.py build FOLDER      the whole wall, killed while it reads and while it draws, and resumed
    python benchmarks/wall.py browse FOLDER     the wall in Chromium: zoom, search, back; frame times
    python benchmarks/wall.py content FOLDER    320 originals by colour and by a table of embeddings, as pages
    python benchmarks/wall.py features FOLDER   what each feature that ships is good for, on the 320 originals
    python benchmarks/wall.py files FOLDER      a million files in one folder: seconds and memory of listing them

Photos need PAIRUP_DATA. Everything lies in FOLDER.
"""

import argparse
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from pairup.datasets import data_folder

SIDE = 500  # pixels of the longer side of a small photo
SHAPES = ((4000, 3000), (6000, 4000), (4608, 3456), (5472, 3648))  # 12 to 24 megapixels, as cameras have them
AT_ONCE = 50  # photos made in one task


def originals() -> list[Path]:
    return sorted((data_folder() / "flickr320" / "original_jpg").glob("*.jpg"))


def vary(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Crop a photo and change its tone, so that no two are equal."""
    share = rng.uniform(0.55, 1.0)
    width, height = (round(side * share) for side in picture.size)
    left, top = int(rng.integers(picture.width - width + 1)), int(rng.integers(picture.height - height + 1))
    picture = picture.crop((left, top, left + width, top + height))
    if rng.random() < 0.5:
        picture = ImageOps.mirror(picture)
    for change in (ImageEnhance.Brightness, ImageEnhance.Color, ImageEnhance.Contrast):
        picture = change(picture).enhance(float(rng.uniform(0.7, 1.3)))
    return picture


def make_small(folder: Path, first: int) -> None:
    sources = originals()
    for number in range(first, first + AT_ONCE):
        path = folder / f"{number // 1000:03}" / f"photo{number:06}.jpg"
        if not path.exists():
            rng = np.random.default_rng(number)
            with Image.open(sources[number % len(sources)]) as source:
                picture = vary(source.convert("RGB"), rng)
            path.parent.mkdir(exist_ok=True)
            ImageOps.contain(picture, (SIDE, SIDE)).save(path, quality=80)


def make_large(folder: Path, number: int) -> None:
    """Make a photo as a camera does: large, noisy, with EXIF and a small preview in it."""
    path = folder / f"large{number:03}.jpg"
    if path.exists():
        return
    rng, sources = np.random.default_rng(number), originals()
    with Image.open(sources[number % len(sources)]) as source:
        picture = vary(source.convert("RGB"), rng)
    picture = ImageOps.fit(picture, SHAPES[number % len(SHAPES)], Image.Resampling.BICUBIC)
    pixels = np.asarray(picture).astype(np.int16)
    pixels += rng.integers(-5, 6, (*pixels.shape[:2], 1), dtype=np.int16)  # as a sensor has it
    picture = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    preview = io.BytesIO()
    ImageOps.contain(picture, (160, 160)).save(preview, "JPEG")
    picture.save(path, quality=90, exif=exif_with(preview.getvalue()))


def exif_with(preview: bytes) -> bytes:
    """Return EXIF with a preview, little-endian: an empty IFD0, and IFD1 with offset and length of the JPEG."""
    entries = [(0x0103, 3, 6), (0x0201, 4, 0), (0x0202, 4, len(preview))]  # JPEG; where; how long
    start = 8 + 6 + 2 + 12 * len(entries) + 4
    entries[1] = (0x0201, 4, start)
    ifd1 = len(entries).to_bytes(2, "little") + b"".join(
        tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + (1).to_bytes(4, "little") + value.to_bytes(4, "little")
        for tag, kind, value in entries
    )
    tiff = b"II*\0" + (8).to_bytes(4, "little") + b"\0\0" + (14).to_bytes(4, "little") + ifd1 + bytes(4)
    return b"Exif\0\0" + tiff + preview


def make(folder: Path, photos: int, large: int) -> None:
    for name in ("small", "large"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(make_small, folder / "small", first) for first in range(0, photos, AT_ONCE)]
        waiting += [pool.submit(make_large, folder / "large", number) for number in range(large)]
        for done in waiting:
            done.result()
    for name in ("small", "large"):
        sizes = [path.stat().st_size for path in (folder / name).rglob("*.jpg")]
        print(f"{name}: {len(sizes)} photos, {sum(sizes) / 1e9:.2f} GB")


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def plain_pillow(path: Path) -> tuple[bytes, Any]:
    """Do with Pillow as its manual shows it: open, thumbnail, square, encode."""
    with Image.open(path) as picture:
        upright = ImageOps.exif_transpose(picture).convert("RGB")
    upright.thumbnail((320, 320))
    encoded = io.BytesIO()
    upright.save(encoded, "JPEG", quality=88)
    return encoded.getvalue(), np.asarray(ImageOps.fit(upright, (40, 40)))


def pillow_with_draft(path: Path) -> tuple[bytes, Any]:
    """Do the same, but call thumbnail on the file itself, which then decodes JPEG at a reduced size."""
    with Image.open(path) as picture:
        picture.thumbnail((320, 320))
        upright = ImageOps.exif_transpose(picture).convert("RGB")
    encoded = io.BytesIO()
    upright.save(encoded, "JPEG", quality=88)
    return encoded.getvalue(), np.asarray(ImageOps.fit(upright, (40, 40)))


def ours(path: Path) -> tuple[Any, bytes]:
    from pairup.album.decoding import THUMBNAIL, decode, reduce_picture

    return reduce_picture(decode(path, THUMBNAIL)[0])


def without_vips(path: Path) -> tuple[Any, bytes]:
    from pairup.album import vips

    before, vips.LARGE = vips.LARGE, 10**12
    try:
        return ours(path)
    finally:
        vips.LARGE = before


def previews(path: Path) -> tuple[Any, bytes]:
    from pairup.album.decoding import THUMBNAIL, decode, decode_preview, reduce_picture

    return reduce_picture((decode_preview(path) or decode(path, THUMBNAIL))[0])


def pyvips(path: Path) -> tuple[Any, bytes]:
    import pyvips as vips

    picture = vips.Image.thumbnail(str(path), 320, height=320, size="down").copy_memory()
    return picture.thumbnail_image(40, height=40, crop="centre").numpy(), picture.jpegsave_buffer(Q=88, strip=True)


def read(folder: Path) -> None:
    """CPU milliseconds per photo of one thread, the least of three passes; then all cores."""
    small = sorted((folder / "small").rglob("*.jpg"))
    sets = {"small": small[:: max(len(small) // 400, 1)][:400], "large": sorted((folder / "large").glob("*.jpg"))[:24]}
    ways: dict[str, Callable[[Path], Any]] = {
        "plain Pillow": plain_pillow,
        "Pillow, draft": pillow_with_draft,
        "pairup": without_vips,
        "pairup --previews": previews,
    }
    try:
        import pyvips as vips

        vips.cache_set_max(0)
        ways["pairup[pyramid]"] = ours
        ways["pyvips alone"] = pyvips
    except ImportError:
        print("pyvips is not installed")
    for kind, paths in sets.items():
        for name, way in ways.items():
            way(paths[0])
            least = min(measure(way, paths) for _ in range(3))
            print(
                f"{kind:6} {name:18} {1000 * least:7.2f} ms CPU per photo, {1 / least:6.0f} photos/s per core",
                flush=True,
            )


def measure(way: Callable[[Path], Any], paths: list[Path]) -> float:
    start = cpu()
    for path in paths:
        way(path)
    return (cpu() - start) / len(paths)


def stages(folder: Path, out: Path) -> None:
    """Read, sort and write in this process, and say after each stage what it took."""
    from pairup.album import Style, arrange_steps, photo_features, read_photos

    began, used = time.monotonic(), cpu()

    def tell(stage: str, **more: Any) -> None:
        nonlocal began, used
        row = {"stage": stage, "seconds": round(time.monotonic() - began, 1), "cpu": round(cpu() - used, 1)}
        print(json.dumps({**row, "peak_mb": round(peak()), **more}), flush=True)
        began, used = time.monotonic(), cpu()

    tell("start")
    photos = read_photos([folder / "small", folder / "large"])
    tell("read", photos=len(photos), skipped=len(photos.skipped))
    features = photo_features(photos)
    tell("features", columns=features.shape[1])
    for step in arrange_steps(photos, "auto", features=features, n_jobs=-1):
        album = step
    tell("sort", likeness=round(album.quality.likeness, 2))
    last = ""
    for state in album.write_wall(out, Style(title="A hundred thousand photos"), force=True):
        if state.text != last:
            tell(last or "plan")
            last = state.text
    tell(last)


def build(folder: Path) -> None:
    """Make the whole wall in a process that is killed twice, once while it reads and once while it draws tiles."""
    out, cache = folder / "wall", folder / "cache"
    for old in (out, folder / ".wall.unfinished", cache):
        shutil.rmtree(old, ignore_errors=True)
    total = sum(1 for _ in (folder / "small").rglob("*.jpg"))
    thumbnails, tiles = cache / "thumbnails" / "0.rows", folder / ".wall.unfinished" / "tiles"
    killed_at = (
        ("reading", lambda: thumbnails.exists() and thumbnails.stat().st_size > 48 * total // 2),
        ("drawing tiles", lambda: sum(1 for _ in tiles.rglob("*.jpg")) > total // 30),
        ("", lambda: False),
    )
    for name, reached in killed_at:
        command = [sys.executable, __file__, "stages", str(folder)]
        began = time.monotonic()
        child = subprocess.Popen(command, env={**os.environ, "PAIRUP_CACHE": str(cache)})
        while child.poll() is None and not reached():
            time.sleep(1)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            child.wait()
            print(f"killed while {name}, after {time.monotonic() - began:.0f} s", flush=True)
        elif child.returncode:
            sys.exit(f"failed with {child.returncode}")
    for part in (cache, out, out / "photos", out / "tiles", out / "data"):
        sizes = [path.stat().st_size for path in part.rglob("*") if path.is_file()]
        print(f"{part.relative_to(folder)}: {len(sizes)} files, {sum(sizes) / 1e6:.0f} MB", flush=True)


FRAMES = """() => { window.frames_ = []; let last = performance.now();
  const tick = now => { window.frames_.push(now - last); last = now; window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick); }"""


def browse(folder: Path) -> None:
    """Open the wall from disk, zoom to one photo, search, go back; print times."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.on("pageerror", lambda error: print("error", error))
        began = time.monotonic()
        page.goto((folder / "wall" / "index.html").as_uri())
        settle(page)
        print(f"opened, all tiles in view: {time.monotonic() - began:.2f} s")
        page.screenshot(path=folder / "whole.png")
        scale = float(page.get_attribute("#view", "data-scale") or 0)
        with_frames(page, "zoom by wheel to one photo", lambda: [wheel(page) for _ in range(60)])
        print(f"scale {scale:.4f} to {page.get_attribute('#view', 'data-scale')}")
        page.screenshot(path=folder / "near.png")
        with_frames(page, "pan", lambda: pan(page))
        page.keyboard.press("0")
        page.wait_for_timeout(900)
        began = time.monotonic()
        page.fill("#query", "photo012345")
        page.wait_for_selector("#results button")
        print(f"search: {time.monotonic() - began:.2f} s, {page.inner_text('#told')}")
        with_frames(page, "fly to the photo found", lambda: (page.press("#query", "Enter"), page.wait_for_timeout(900)))
        page.screenshot(path=folder / "found.png")
        page.keyboard.press("Enter")
        page.wait_for_selector("#similar button")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "large.png")
        print("enlarged:", page.inner_text("#name"), "with", page.locator("#similar button").count(), "similar")
        with_frames(page, "back", lambda: (page.go_back(), page.go_back(), page.wait_for_timeout(900)))
        print(
            "back: enlarged",
            page.evaluate("document.getElementById('large').open"),
            page.get_attribute("#view", "data-scale"),
        )
        browser.close()


def settle(page: Any) -> None:
    while page.evaluate("document.getElementById('view').dataset.loading !== '0'"):
        page.wait_for_timeout(20)


def wheel(page: Any) -> None:
    page.mouse.move(700, 430)
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(30)


def pan(page: Any) -> None:
    page.mouse.move(1200, 700)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(1200 - 20 * step, 700 - 10 * step)
        page.wait_for_timeout(20)
    page.mouse.up()


def with_frames(page: Any, name: str, act: Callable[[], Any]) -> None:
    """Print how long frames took while something was done; without a graphics card, on the cores."""
    page.evaluate(FRAMES)
    act()
    frames = np.array(page.evaluate("() => { cancelAnimationFrame(window.ticking); return window.frames_; }"))
    middle, most, worst = np.percentile(frames, [50, 95, 100])
    print(f"{name}: {len(frames)} frames, median {middle:.1f} ms, 95 % below {most:.1f} ms, longest {worst:.0f} ms")


def embed(paths: list[Path]) -> Any:
    """Return an embedding unlike colour: histograms of gradient directions of the gray picture, in 13 × 13 fields."""
    from skimage.feature import hog

    rows = []
    for path in paths:
        with Image.open(path) as picture:
            gray = np.asarray(ImageOps.fit(picture.convert("L"), (128, 128)))
        rows.append(hog(gray, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2)))
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def content(folder: Path) -> None:
    """Arrange the 320 originals by colour, by content, and by both, and compare what is side by side."""
    from pairup.album import Style, arrange, photo_features, read_photos
    from pairup.album.vectors import read_vectors
    from pairup.metrics import neighbour_likeness

    paths = originals()
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "embeddings.csv"
    rows = [
        f"{path.name}," + ",".join(f"{value:.5f}" for value in row)
        for path, row in zip(paths, embed(paths), strict=True)
    ]
    table.write_text("\n".join(rows))
    photos = read_photos(paths[0].parent)
    vectors = read_vectors(table, photos)
    colours = photo_features(photos, {"edges": 0})
    mixed = photo_features(photos, {"colour": 0.5}, vectors)
    for name, features in (("colour", colours), ("content", vectors), ("both", mixed)):
        album = arrange(photos, "16x20", features=features)
        cells = album.frame.cells
        likeness = [neighbour_likeness(F[album.order], cells) for F in (colours, vectors)]
        print(f"{name:8} neighbours against random order: {likeness[0]:.2f}× by colour, {likeness[1]:.2f}× by content")
        album.save(folder / f"{name}.jpg", Style(cell=96))


def change_light(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    darker = ImageEnhance.Brightness(picture).enhance(float(rng.uniform(0.55, 0.75)))
    return ImageEnhance.Contrast(darker).enhance(float(rng.uniform(0.7, 1.3)))


def change_colours(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    hue, saturation, value = picture.convert("HSV").split()
    turned = hue.point(lambda level: (level + 80) % 256)
    return Image.merge("HSV", (turned, saturation, value)).convert("RGB")


def take_gray(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    return picture.convert("L").convert("RGB")


def crop(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    width, height = (round(0.7 * side) for side in picture.size)
    left, top = int(rng.integers(picture.width - width)), int(rng.integers(picture.height - height))
    return picture.crop((left, top, left + width, top + height))


def mirror(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    return ImageOps.mirror(picture)


def halve(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The right half; it is sought among the left halves."""
    return picture.crop((picture.width // 2, 0, picture.width, picture.height))


def features(folder: Path) -> None:
    """Given a photo that was changed, find the original among all: mean reciprocal rank."""
    from scipy.spatial.distance import cdist

    from pairup.album import Photos, photo_features

    pictures = [Image.open(path).convert("RGB") for path in originals()]
    changes = (change_light, change_colours, take_gray, crop, mirror, halve)
    rows = {"colour": {"edges": 0}, "edges": {"colour": 0}, "colour + edges": None, "pixels": {"pixels": 1}}
    n = len(pictures)
    print("| | " + " | ".join(change.__name__ for change in changes) + " |")
    found: dict[str, list[float]] = {name: [] for name in rows}
    for change in changes:
        rng = np.random.default_rng(0)
        before = [p.crop((0, 0, p.width // 2, p.height)) if change is halve else p for p in pictures]
        both = Photos.from_arrays([np.asarray(p) for p in (*before, *(change(p, rng) for p in pictures))])
        for name, weights in rows.items():
            X = photo_features(both, weights)
            distances = cdist(X[n:], X[:n])
            ranks = (distances < np.diag(distances)[:, None]).sum(axis=1) + 1
            found[name].append(float((1 / ranks).mean()))
    for name, values in found.items():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |")


def count_files(folder: Path, number: int = 1_000_000) -> None:
    """Make very many empty files in one folder, and list them."""
    from pairup.album import read_photos
    from pairup.album.listing import list_files

    place = folder / "many"
    place.mkdir(parents=True, exist_ok=True)
    for i in range(number):
        os.close(os.open(place / f"img{i}.jpg", os.O_CREAT))
    before, start = peak(), cpu()
    listed = list_files([place])
    print(f"{len(listed)} files listed in {cpu() - start:.1f} CPU s, peak {peak() - before:.0f} MB more")
    start = cpu()
    try:
        read_photos(place, n_jobs=1)
    except ValueError as error:
        print(f"read in {cpu() - start:.1f} CPU s, peak {peak():.0f} MB: {str(error)[:100]}")
    shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("make", "read", "build", "stages", "browse", "content", "features", "files"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=200)
    options = parser.parse_args()
    if options.task == "make":
        make(options.folder, options.photos, options.large)
    elif options.task == "stages":
        stages(options.folder, options.folder / "wall")
    else:
        tasks = {
            "read": read,
            "build": build,
            "browse": browse,
            "content": content,
            "features": features,
            "files": count_files,
        }
        tasks[options.task](options.folder)


if __name__ == "__main__":
    main()
