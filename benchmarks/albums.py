"""Albums beside their peers, in one run each; one thread, CPU seconds, compilation apart.

    python benchmarks/albums.py colours    1024 random colours into 32×32, seeds 0–4, and with --fresh 5–9
    python benchmarks/albums.py frontier   10⁴, 10⁵ and 10⁶ random colours: each preset beside vc-flas
    python benchmarks/albums.py threads    the same on one thread and on two: wall time
    python benchmarks/albums.py vectors    sentences, cells and tiles, vectors of many dimensions: each beside vc-flas
    python benchmarks/albums.py photos     320 Flickr photos into 16×20 and into a smiley of 320 cells
    python benchmarks/albums.py paper      the paper's six albums, by LSOM and by the default method
    python benchmarks/albums.py large      10,000 tiles into 100×100: seconds and memory of each stage
    python benchmarks/albums.py damaged    500 files, one in ten damaged
    python benchmarks/albums.py features   which features find the other part of a photo

Photos need PAIRUP_DATA. Peers that are not installed are listed as such; install them: pip install --group bench.
"""

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from pairup.album import Frame, Photos, Style, arrange, photo_features, read_photos
from pairup.album.features import colour_layout, combine, edge_layout, lab_pixels
from pairup.datasets import data_folder, load_flickr, load_tiles, to_lab
from pairup.matchers import KSHSIC
from pairup.metrics import distance_preservation_quality, neighbour_preservation
from pairup.types import Array

Order = NDArray[np.intp]
Peer = Callable[[Array, NDArray[np.intp], int], Order]  # items, cells, seed -> the item on each cell


def ours(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return arrange(X, Frame.points(cells), random_state=seed).order


def draft(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return arrange(X, Frame.points(cells), random_state=seed, draft=True).order


def best(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return arrange(X, Frame.points(cells), random_state=seed, best=True).order


def shuffled(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return np.random.default_rng(seed).permutation(len(X))


def onto_cells(plane: Array, cells: NDArray[np.intp]) -> Order:
    """Assign points of a plane to the cells, both scaled to the unit square."""
    unit = [(points - points.min(axis=0)) / np.ptp(points, axis=0) for points in (plane, cells.astype(float))]
    return linear_sum_assignment(cdist(unit[1], unit[0], "sqeuclidean"))[1]


def tsne(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return onto_cells(TSNE(init="pca", random_state=seed).fit_transform(X), cells)


def umap(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    from umap import UMAP

    return onto_cells(UMAP(random_state=seed, n_jobs=1).fit_transform(X), cells)


def minisom(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    """A self-organising map of the frame's bounding box; each item then gets its own cell by assignment."""
    from minisom import MiniSom

    height, width = cells.max(axis=0) + 1
    som = MiniSom(
        height,
        width,
        X.shape[1],
        sigma=max(height, width) / 3,
        learning_rate=1.0,
        sigma_decay_function="linear_decay_to_one",  # far better here than its default
        decay_function="linear_decay_to_zero",
        random_seed=seed,
    )
    som.random_weights_init(X)
    som.train(X, 30 * len(X), random_order=True)
    weights = som.get_weights()[cells[:, 0], cells[:, 1]]
    return linear_sum_assignment(cdist(weights, X, "sqeuclidean"))[1]


def rasterfairy(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    """Two principal components cut into rows and then into columns, as rasterfairy does (its release crashes)."""
    plane = PCA(2).fit_transform(X)
    order, used = np.empty(len(X), dtype=np.intp), 0
    down = np.argsort(plane[:, 0])
    for row in np.unique(cells[:, 0]):
        here = np.flatnonzero(cells[:, 0] == row)
        items = down[used : used + len(here)]
        order[here[np.argsort(cells[here, 1])]] = items[np.argsort(plane[items, 1])]
        used += len(here)
    return order


def ks_hsic(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    return np.argsort(KSHSIC().fit_predict(X, cells.astype(float)))


def las(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
    """Linear assignment sorting: a box filter of falling radius, and an exact assignment after each."""
    rows, columns = cells.T
    box = (rows.max() + 1, columns.max() + 1)
    order = np.random.default_rng(seed).permutation(len(X))
    mass = np.zeros(box)
    mass[rows, columns] = 1
    radius = max(box) * 0.5
    while radius >= 1:
        size = 2 * int(radius) + 1
        values = np.zeros((*box, X.shape[1]))
        values[rows, columns] = X[order]
        means = uniform_filter(values, (size, size, 1), mode="constant")[rows, columns]
        means /= uniform_filter(mass, size, mode="constant")[rows, columns][:, None]
        order = linear_sum_assignment(cdist(means, X, "sqeuclidean"))[1]
        radius *= 0.93
    return order


def flas(**options: float) -> Peer:
    def sort(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
        import vc_flas

        builder = vc_flas.GridBuilder(size=tuple(int(side) for side in cells.max(axis=0) + 1))
        start = np.random.default_rng(seed).permutation(len(X))
        builder.put(X[start].astype(np.float32), cells.astype(np.int32), start.astype(np.int32), frozen=False)
        sorted_ = vc_flas.flas(builder.build(freeze_holes=True), seed=seed, **options)
        return sorted_.get_sorted_labels()[cells[:, 0], cells[:, 1]]

    return sort


PEERS: dict[str, tuple[Peer, str | None]] = {
    "random": (shuffled, None),
    "PCA + rasterfairy": (rasterfairy, None),
    "KS-HSIC, plain": (ks_hsic, None),
    "UMAP + LAP": (umap, "umap"),
    "t-SNE + LAP": (tsne, None),
    "MiniSom + LAP": (minisom, "minisom"),
    "LAS": (las, None),
    "vc-flas, default": (flas(), "vc_flas"),
    "vc-flas, best setting": (flas(radius_decay=0.98, max_swap_positions=81), "vc_flas"),
    "pairup, draft": (draft, None),
    "pairup": (ours, None),
    "pairup, best": (best, None),
}


def compare(title: str, sets: Iterable[Array], cells: NDArray[np.intp], *, seeds: int, only: str) -> None:
    """Print a table of all peers on the same sets."""
    print(f"\n## {title}\n\n| | DPQ16 | tie-free | kNN-8 kept | CPU s |\n|---|---|---|---|---|")
    sets = [PCA().fit_transform(X) for X in sets]  # a rotation: distances stay, and every peer gets cheaper
    for name, (sort, module) in PEERS.items():
        if only not in name:
            continue
        if module is not None and importlib.util.find_spec(module) is None:
            print(f"| {name} | not installed | | | |")
            continue
        sort(sets[0][:64], cells[:64], 0)  # compilation and first imports
        scores, seconds = [], []
        for X in sets:
            for seed in range(seeds):
                began = time.process_time()
                order = sort(X, cells, seed)
                seconds.append(time.process_time() - began)
                assert sorted(order) == list(range(len(X))), name
                placed = X[order]
                scores.append(
                    (
                        distance_preservation_quality(placed, cells),
                        distance_preservation_quality(placed, cells, ties="average"),
                        neighbour_preservation(placed, cells),
                    )
                )
        dpq, tie_free, kept = np.mean(scores, axis=0)
        print(f"| {name} | {dpq:.4f} | {tie_free:.4f} | {kept:.3f} | {np.mean(seconds):.3f} |", flush=True)


def colours(only: str, first: int = 0) -> None:
    cells = np.argwhere(np.ones((32, 32)))
    sets = [np.random.default_rng(seed).random((1024, 3)) for seed in range(first, first + 5)]
    compare(f"1024 random RGB colours → 32×32, seeds {first}–{first + 4}", sets, cells, seeds=1, only=only)


def neighbour_ratio(X: Array, side: int, order: Order) -> float:
    """Mean distance of neighbours, beside and below, as a share of the mean distance of random pairs."""
    placed = X[order].reshape(side, side, -1)
    beside = [np.linalg.norm(np.diff(placed, axis=axis), axis=2).ravel() for axis in (0, 1)]
    pairs = np.random.default_rng(1).integers(len(X), size=(2, 10**6))
    return float(np.concatenate(beside).mean() / np.linalg.norm(X[pairs[0]] - X[pairs[1]], axis=1).mean())


def sort_alone(name: str, side: int, n_jobs: int = 1) -> tuple[float, float, float, float]:
    """Sort random colours, and return the neighbour ratio, CPU s, wall s and the peak of memory in GB."""
    X = np.random.default_rng(0).random((side * side, 3))
    cells = np.argwhere(np.ones((side, side)))
    presets = {"pairup, draft": {"draft": True}, "pairup": {}, "pairup, best": {"best": True}}
    if name in presets:

        def sort(X: Array, cells: NDArray[np.intp], seed: int) -> Order:
            frame = Frame.grid(*(cells.max(axis=0) + 1).tolist())
            return arrange(X, frame, random_state=seed, n_jobs=n_jobs, **presets[name]).order
    else:
        sort = PEERS[name][0]
    for few in (10, 60):  # compilation and first imports, of the sweeps too
        sort(X[: few * few], cells=np.argwhere(np.ones((few, few))), seed=1)
    busy, began = time.process_time(), time.perf_counter()
    order = sort(X, cells, 0)
    busy, began = time.process_time() - busy, time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return neighbour_ratio(X, side, order), busy, began, peak


def in_own_process(*arguments: object) -> tuple[float, float, float, float]:
    """Call `sort_alone` in a process of its own, whose memory is that of this sorting alone."""
    code = f"from albums import sort_alone; print(*sort_alone(*{arguments!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    ratio, busy, wall, peak = map(float, done.stdout.split())
    return ratio, busy, wall, peak


def frontier(only: str) -> None:
    """Print ratio, CPU s and memory by size; the exponent of time is that of the last two sizes."""
    sides = (100, 316, 1000)
    names = ["vc-flas, default", "pairup, draft", "pairup", "vc-flas, best setting", "pairup, best"]
    print("\n## Random colours → square: neighbour ratio, CPU s, GB\n")
    print(f"| | {' | '.join(f'{side}×{side}' for side in sides)} | exponent |\n|---|---|---|---|---|")
    for name in names:
        if only not in name:
            continue
        # The two slow ones would take a quarter of an hour and more at the largest size.
        found = {side: in_own_process(name, side) for side in (sides[:2] if "best" in name else sides)}
        figures = [f"{r:.4f}, {busy:.2f} s, {peak:.2f} GB" for r, busy, _, peak in found.values()]
        times, used = [busy for _, busy, _, _ in found.values()], list(found)
        exponent = np.log(times[-1] / times[-2]) / np.log((used[-1] / used[-2]) ** 2)
        print(f"| {name} | {' | '.join([*figures, '–'][:3])} | {exponent:.2f} |", flush=True)


def vectors(only: str) -> None:
    """Print the neighbour ratio of vectors of many dimensions, and CPU s."""
    sentences = np.load(data_folder() / "embeddings" / "captions12k.npz")["minilm_en"].astype(float)
    cells = np.load(data_folder() / "cells" / "pbmc2407.npz")["rna"].astype(float)
    tiles = load_tiles(1500)[:1024]
    sets = {
        "10,000 sentences": (sentences[:10_000], 100),
        "2,401 cells": (cells[:2401], 49),
        "1,024 sentences": (sentences[10_000:11_024], 32),
        "1,024 tiles": (photo_features(Photos.from_arrays(tiles)), 32),
    }
    print("\n## Vectors of many dimensions → square: neighbour ratio, CPU s\n")
    print(f"| | {' | '.join(sets)} |\n|---|{'---|' * len(sets)}")
    for name in ("vc-flas, default", "pairup, draft", "pairup", "vc-flas, best setting", "pairup, best"):
        if only not in name:
            continue
        figures = []
        for X, side in sets.values():
            places = np.argwhere(np.ones((side, side)))
            for few in (10, 30):  # compilation and first imports
                PEERS[name][0](X[: few * few], np.argwhere(np.ones((few, few))), 1)
            began = time.process_time()
            order = PEERS[name][0](X, places, 0)
            busy = time.process_time() - began
            figures.append(f"{neighbour_ratio(X, side, order):.3f}, {busy:.2f} s")
        print(f"| {name} | {' | '.join(figures)} |", flush=True)


def threads() -> None:
    for name in ("pairup, draft", "pairup"):
        for side in (316, 1000):
            one, two = (in_own_process(name, side, jobs) for jobs in (1, 2))
            assert one[0] == two[0]
            print(f"{name}, {side}×{side}: {one[2]:.2f} s, on two threads {two[2]:.2f} s, {one[2] / two[2]:.2f} times")


def photos(only: str) -> None:
    X = to_lab(load_flickr()).reshape(320, -1)
    compare("Flickr 320, Lab 40×40 → 16×20", [X], np.argwhere(np.ones((16, 20))), seeds=3, only=only)
    compare("Flickr 320, Lab 40×40 → smiley", [X], Frame.shape("smiley").fit(320).cells, seeds=3, only=only)


def paper(folder: Path) -> None:
    from pairup.paper.albums import load_pictures, make_frame

    albums = [("flickr", 320, "16x20"), ("frey", 225, "15x15"), ("usps", 320, "16x20")]
    albums += [("flickr", 120, "mountain"), ("frey", 153, "smiley"), ("usps", 199, "777")]
    for kind, n, name in albums:
        X, images = load_pictures(kind, n, str(data_folder()))
        for method in ("lsom", "auto"):
            began = time.process_time()
            album = arrange(Photos.from_arrays(images), make_frame(name), features=X, method=method)
            seconds = time.process_time() - began
            path = album.save(folder / f"{kind}-{name}-{method}.png", Style(cell=48, gap=0.06))
            print(f"{kind} {n} → {name}, {method}: {album.quality}; {seconds:.1f} CPU s; {path.name}", flush=True)


def large(folder: Path) -> None:
    began, busy = time.perf_counter(), time.process_time()

    def tell(stage: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        wall, cpu = time.perf_counter() - began, time.process_time() - busy
        print(f"{wall:6.1f} s, {cpu:6.1f} CPU s: {stage}, peak {peak:.2f} GiB", flush=True)

    arrange(np.random.default_rng(0).random((5000, 3)), Frame.auto(), random_state=1)  # compilation, blocks included
    tiles = load_tiles(1500)
    rng = np.random.default_rng(0)
    began, busy = time.perf_counter(), time.process_time()
    shades = rng.uniform(0.5, 1.5, (10_000, 1, 1, 3))
    images = np.clip(tiles[rng.integers(len(tiles), size=10_000)] * shades, 0, 255).astype(np.uint8)
    several = Photos.from_arrays(images)
    tell("10,000 tiles made")
    X = photo_features(several)
    tell("features")
    sorting = time.perf_counter()
    album = arrange(several, Frame.grid(100, 100), features=X, n_jobs=-1)
    tell(f"sorted in {time.perf_counter() - sorting:.1f} s")
    for suffix in ("png", "html", "json"):
        album.save(folder / f"large.{suffix}")
        tell(f"{suffix} written")
    print(album.quality)
    tell("measured")


def damaged(folder: Path) -> None:
    """500 photos, 50 of them damaged in seven ways."""
    from PIL import Image

    rng = np.random.default_rng(0)
    tiles = load_tiles(320)
    source = folder / "damaged"
    source.mkdir(exist_ok=True)
    for i in range(500):
        picture = Image.fromarray(tiles[i % 320]).resize((1200, 900), Image.Resampling.BICUBIC)
        picture = Image.fromarray(np.roll(np.asarray(picture), int(rng.integers(200)), axis=1))
        path = source / f"img{i:03}.jpg"
        picture.save(path, quality=90)
        if i % 10 == 0:
            damage(path, i // 10 % 7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began = time.perf_counter()
    found = read_photos(source, cache=False)
    album = arrange(found, Frame.auto())
    album.save(folder / "damaged.html")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(found)} photos, {len(found.skipped)} skipped, {time.perf_counter() - began:.1f} s; {album.quality}")
    print(f"peak {peak:.2f} GiB ({before:.2f} before)")
    for name, why in found.skipped[:14]:
        print(f"  {name}: {why}")


def damage(path: Path, way: int) -> None:
    """Damage a JPEG: truncated, empty, another format, text, a huge header, broken EXIF, noise inside."""
    from PIL import Image

    whole = path.read_bytes()
    if way == 0:
        path.write_bytes(whole[: len(whole) // 3])
    elif way == 1:
        path.write_bytes(b"")
    elif way == 2:
        Image.open(path).save(path, "PNG")  # a PNG named .jpg can be read all the same
    elif way == 3:
        path.write_text("This is a letter, not a photo.")
    elif way == 4:
        start = whole.index(b"\xff\xc0") + 5
        path.write_bytes(whole[:start] + (30_000).to_bytes(2, "big") * 2 + whole[start + 4 :])
    elif way == 5:
        exif = b"Exif\0\0II*\0\xff\xff\xff\xff garbage"
        path.write_bytes(whole[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + whole[2:])
    else:
        path.write_bytes(os.urandom(len(whole)))


def features() -> None:
    """Find, by nearest neighbour, the lower right part of a photo from its upper left; they share a sixth."""
    from PIL import Image

    first, second = [], []
    for i in range(1, 321):
        picture = Image.open(data_folder() / "flickr320" / "original_jpg" / f"img{i}.jpg").convert("RGB")
        width, height = picture.size
        for parts, box in (
            (first, (0, 0, 0.7 * width, 0.7 * height)),
            (second, (0.3 * width, 0.3 * height, width, height)),
        ):
            parts.append(np.asarray(picture.crop(tuple(map(int, box))).resize((40, 40), Image.Resampling.LANCZOS)))
    both = np.stack(first + second)
    kinds = {"Lab pixels": lab_pixels(both), "colour": colour_layout(both), "edges": edge_layout(both)}
    for weight in (0.25, 0.5, 1.0):
        kinds[f"colour + {weight} edges"] = combine([(kinds["colour"], 1.0), (kinds["edges"], weight)])
    print("| features | found at once | mean reciprocal rank |\n|---|---|---|")
    for name, F in kinds.items():
        D = cdist(F[:320], F[320:])
        rank = (np.diag(D)[:, None] > D).sum(axis=1)
        print(f"| {name} | {np.mean(rank == 0):.3f} | {np.mean(1 / (1 + rank)):.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts",
        nargs="+",
        choices=["colours", "frontier", "threads", "vectors", "photos", "paper", "large", "damaged", "features"],
    )
    parser.add_argument("--out", type=Path, help="folder for pictures and pages [default: a temporary one]")
    parser.add_argument("--only", default="", help="compare only peers whose name contains this, such as flas")
    parser.add_argument("--fresh", action="store_true", help="colours of the seeds 5–9 instead of 0–4")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="umap|sklearn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for part in arguments.parts:
            if part in ("colours", "photos"):
                with threadpool_limits(1):
                    photos(arguments.only) if part == "photos" else colours(arguments.only, 5 * arguments.fresh)
            elif part == "frontier":
                frontier(arguments.only)
            elif part == "vectors":
                with threadpool_limits(1):
                    vectors(arguments.only)
            elif part == "threads":
                threads()
            elif part == "features":
                features()
            else:
                {"paper": paper, "large": large, "damaged": damaged}[part](folder)


if __name__ == "__main__":
    sys.exit(main())
