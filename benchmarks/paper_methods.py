"""The paper's methods on the paper's photos, with the published numbers, and all readings of LSOM.

python3 dev.py bench paper_methods            the tables on the toy and, with PAIRUP_DATA, the Flickr photos
python3 dev.py bench paper_methods --choose   the readings of LSOM on generated relations, the toy and demo tiles, on
                                              which the defaults were chosen
python3 dev.py bench paper_methods --rules    rules that choose among the ends of LSOM's climbs without labels
python3 dev.py bench paper_methods --pixels   LSOM on the photos reduced to 40 × 40 pixels in different ways
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import spearmanr

from pairup import KSHSIC, KSMI, KSNOCCO, LSOM
from pairup.assignment import assign
from pairup.climb import climb
from pairup.datasets import data_folder, half_images, load_flickr, load_tiles, make_cubic, shuffle_pair, to_lab
from pairup.density_ratio import eigendecompose, held_out_scores
from pairup.kernels import KernelFamily
from pairup.measures import HSIC, NOCCO, align, ridge_term, solve_ridge
from pairup.metrics import match_accuracy
from pairup.multistart import CrossValidatedClimbs, NarrowingClimbs
from pairup.selection import RatioGrid, fold_numbers
from pairup.starts import eigen_starts, leading_eigenvectors, sort_match


class TrainingCentres(RatioGrid):
    """The reading in which only the pairs of the training folds are centres."""

    def scores(self, indices, setting=None):
        widths = range(len(self.widths)) if setting is None else [setting[0]]
        lambdas = self.lambdas if setting is None else [self.lambdas[setting[1]]]
        result = np.empty((len(widths), len(lambdas), self.folds.max() + 1))
        for w, width in enumerate(widths):
            K, L = self.families[0].matrix(self.widths[width]), self.families[1].matrix(self.widths[width])
            L = align(L, indices)
            for f in range(result.shape[2]):
                train, test = np.flatnonzero(self.folds != f), np.flatnonzero(self.folds == f)
                H, h = compute_moments(K, L, train, train)
                H_out, h_out = compute_moments(K, L, train, test)
                for j, lam in enumerate(lambdas):
                    alpha = solve_ridge(H, h, ridge_term(lam, self.ridge, len(train)))
                    result[w, j, f] = alpha @ h_out - 0.5 * alpha @ H_out @ alpha
        return result


def compute_moments(K, L, centres, samples):
    """H and h of LSMI for the given centres, averaged over the given samples."""
    K, L = K[np.ix_(centres, samples)], L[np.ix_(centres, samples)]
    return (K @ K.T) * (L @ L.T) / len(samples) ** 2, (K * L).mean(axis=1)


LITERAL = {"nonnegative": False, "select": "start"}
FOLDS = int(np.random.RandomState(0).randint(2**31 - 1))  # the folds that LSOM(random_state=0) draws
READINGS = [
    (nonnegative, select, centres, ridge)
    for nonnegative in (False, True)
    for select in ("start", "iteration", "wide-to-narrow")
    for centres in ("all samples", "training fold")
    for ridge in ("outside", "inside")
]


def search_with(X, Y, nonnegative, select, centres="all samples", ridge="outside"):
    """LSOM's search in one reading, ready to run."""
    x, y = KernelFamily(X), KernelFamily(Y)
    make = RatioGrid if centres == "all samples" else TrainingCentres
    grid = make((x, y), folds=fold_numbers(len(X), 2, FOLDS), ridge=ridge, nonnegative=nonnegative).prepare()
    starts = eigen_starts(x, y, 10)
    if select == "wide-to-narrow":
        return NarrowingClimbs(grid, starts, 20, 1.0)
    return CrossValidatedClimbs(grid, starts, 20, 1.0, select == "iteration")


def accuracy_up_to_mirror(indices, problem) -> float:
    """The share of right pairs; of sets of one column, also against the mirror image, which fits as well."""
    X, Y, truth = problem
    mirrors = [sort_match(X[:, 0], -Y[:, 0])] if X.shape[1] == 1 else []
    return max(match_accuracy(indices, known, Y) for known in (truth, *mirrors))


def read_lsom(problem, *reading) -> tuple[float, float]:
    """Run LSOM in one reading; return the accuracy of its answer, and that of its best end, which takes labels."""
    search = search_with(problem[0], problem[1], *reading)
    histories = [list(search.steps(number)) for number in range(search.n_tasks)]
    _, answer = search.winner(histories)
    ends = [history[-1].indices for history in histories]
    return accuracy_up_to_mirror(answer.indices, problem), max(accuracy_up_to_mirror(end, problem) for end in ends)


def print_readings(groups: dict[str, list[tuple]]) -> None:
    print("\nReadings of LSOM: mean accuracy, and in brackets that of the best end of all starts, which takes labels")
    print(f"{'α':9} {'width and λ':14} {'centres':14} {'λ':8} " + " ".join(f"{name:>14}" for name in groups))
    for reading in READINGS:
        nonnegative, select, centres, ridge = reading
        print(f"{'α ≥ 0' if nonnegative else 'literal':9} {select:14} {centres:14} {ridge:8} ", end="")
        for problems in groups.values():
            found, best = np.mean([read_lsom(problem, *reading) for problem in problems], axis=0)
            print(f"{f'{found:.3f} ({best:.3f})':>14}", end=" ", flush=True)
        print()


def make_smooth_map(n: int, seed: int) -> tuple:
    """A random smooth map of a lopsided mixture of Gaussians in two dimensions into three."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(3, 2))
    X = centres[rng.choice(3, size=n, p=[0.6, 0.3, 0.1])] + 0.5 * rng.normal(size=(n, 2))
    Y = np.tanh(X @ rng.normal(size=(2, 8)) / 2) @ rng.normal(size=(8, 3)) + 0.02 * rng.normal(size=(n, 3))
    return shuffle_pair(X, Y, seed)


def make_rotation(n: int, seed: int) -> tuple:
    """Four lopsided factors, rotated into seven columns."""
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return shuffle_pair(Z, Z @ np.linalg.qr(rng.normal(size=(7, 4)))[0].T + 0.05 * rng.normal(size=(n, 7)), seed)


def make_mixture(n: int, seed: int) -> tuple:
    """Three lopsided factors, mixed and taken the logarithm of."""
    rng = np.random.default_rng(seed)
    Z = rng.gamma(2.0, size=(n, 3)) * [3, 2, 1]
    return shuffle_pair(Z, np.log1p(Z @ np.abs(rng.normal(size=(3, 5)))), seed)


def make_groups() -> dict[str, list[tuple]]:
    """Problems that hold none of the paper's photos."""
    tiles = to_lab(load_tiles(640))
    rng = np.random.default_rng(0)
    return {
        "toy": [make_cubic(100, random_state=seed) for seed in range(10)],
        "tiles, n = 80": [half_images(tiles[rng.permutation(640)[:80]]) for _ in range(6)],
        "tiles, n = 160": [half_images(tiles[rng.permutation(640)[:160]]) for _ in range(3)],
        "smooth maps": [make_smooth_map(80, seed) for seed in range(8)],
        "rotations": [make_rotation(80, seed) for seed in range(8)],
        "mixtures": [make_mixture(80, seed) for seed in range(8)],
    }


def print_rules(groups: dict[str, list[tuple]]) -> None:
    """Compare rules that choose among the ends of the climbs from wide to narrow."""
    rows: dict[str, list[float]] = {}
    for name, problems in groups.items():
        results = [compare_rules(problem) for problem in problems]
        for rule in results[0]:
            rows.setdefault(rule, []).append(float(np.mean([result[rule] for result in results])))
        print(f"{name}: done", flush=True)
    print(f"\nRules for the answer of LSOM, mean accuracy\n{'':50}" + " ".join(f"{name:>14}" for name in groups))
    for rule, values in rows.items():
        print(f"{rule:50}" + " ".join(f"{value:14.3f}" for value in values))


def compare_rules(problem) -> dict[str, float]:
    """The accuracy of the end that each rule chooses."""
    X, Y, truth = problem
    search = search_with(X, Y, True, "wide-to-narrow")
    grid = search.grid
    histories = [list(search.steps(number)) for number in range(search.n_tasks)]
    ends = [history[-1].indices for history in histories]
    measures = [grid.measure(0, number // len(search.starts)) for number in range(search.n_tasks)]
    values = np.array([m.nonnegative_value(end) for m, end in zip(measures, ends, strict=True)])
    by_lambda = np.split(np.arange(len(ends)), len(grid.lambdas))
    best = [group[values[group].argmax()] for group in by_lambda]
    good = np.concatenate([group[values[group] >= 0.97 * values[group].max()] for group in by_lambda])
    left_out = np.array([leave_one_out_score(m, end) for m, end in zip(measures, ends, strict=True)])
    spectra = [[eigendecompose(family.matrix(c).copy()) for family in grid.families] for c in (1.0, 2.0)]
    product = -np.min([held_out_scores(x, y, ends).min(axis=1) for x, y in spectra], axis=0)
    agreement = np.array([[np.mean(ends[a] == ends[b]) for b in good] for a in good]).mean(axis=1)
    folds = [RatioGrid(grid.families, folds=fold_numbers(len(X), 2, seed)) for seed in range(4)]
    repeated = [np.mean([other.scores(ends[k], (0, k // len(search.starts))).mean() for other in folds]) for k in best]
    found_again = [count_found_again(m, end) for m, end in zip(measures, ends, strict=True)]
    votes = np.zeros((len(X), len(X)))
    for k in good:
        votes[np.arange(len(X)), ends[k]] += 1
    chosen = {
        "of each λ by LSMI of α⁺, then by J (default)": search.winner(histories)[1].indices,
        "of each λ by LSMI of α⁺, then by J of 4 foldings": ends[best[int(np.argmax(repeated))]],
        "of each λ by LSMI of α⁺, then by J, one left out": ends[max(best, key=lambda k: left_out[k])],
        "by J, one pair and its centre left out": ends[int(left_out.argmax())],
        "by J of the product basis, one left out": ends[int(product.argmax())],
        "by pairs found again from the other four fifths": ends[int(np.argmax(found_again))],
        "the good end that agrees most with the others": ends[good[int(agreement.argmax())]],
        "vote of all good ends": assign(votes),
    }
    result = {rule: accuracy_up_to_mirror(end, problem) for rule, end in chosen.items()}
    answer = search.winner(histories)[1]
    measure = measures[answer.start]
    return result | {
        "the best end (takes labels)": max(accuracy_up_to_mirror(end, problem) for end in ends),
        "pairs found again, of the default's answer": count_found_again(measure, answer.indices),
        "pairs found again, of the truth": count_found_again(measure, truth),
    }


def leave_one_out_score(measure, indices) -> float:
    """−J of pairs that are left out of h and of the centres one at a time, in closed form; H keeps all."""
    n = len(indices)
    basis = measure.K * align(measure.L, indices)
    H = measure.KK * align(measure.LL, indices) / n**2
    inverse = np.linalg.inv(H + measure.lam * np.eye(n))
    alpha = inverse @ ((basis.sum(axis=1)[:, None] - basis) / (n - 1))  # column i: fitted without pair i
    alpha -= inverse * (np.diag(alpha) / np.diag(inverse))  # … and without centre i
    return float(np.mean(np.einsum("li,li->i", basis, alpha) - 0.5 * np.einsum("li,li->i", alpha, H @ alpha)))


def count_found_again(measure, indices, cv=5) -> float:
    """The share of pairs that an assignment by the ratio finds again, fitted to the pairs of the other folds alone."""
    folds = fold_numbers(len(indices), cv, seed=0)
    K, L = measure.K, align(measure.L, indices)
    right = 0
    for fold in range(cv):
        held_out, fitted = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        alpha = np.maximum(solve_ridge(*compute_moments(K, L, fitted, fitted), measure.lam), 0.0)
        profit = (K[np.ix_(held_out, fitted)] * alpha) @ L[np.ix_(fitted, held_out)]
        right += int((assign(profit) == np.arange(len(held_out))).sum())
    return right / len(indices)


def convert_to_original_lab(rgb):
    """RGB to Lab with the constants of the original code: Rec. 709's gamma, D65 as (0.950456, 1, 1.088754).

    The climb depends on such details: other roundings of the same conversion give from 32 to 149 correct pairs.
    """
    rgb = rgb / 255
    light = ((rgb + 0.099) / 1.099) ** (1 / 0.45)
    light = np.where(light < 0.018, rgb / 4.5138, light)
    to_rgb = [[3.240479, -1.53715, -0.498535], [-0.969256, 1.875992, 0.041556], [0.055648, -0.204043, 1.057311]]
    xyz = light @ np.linalg.inv(to_rgb).T / [0.950456, 1, 1.088754]
    x, y, z = np.moveaxis(np.where(xyz < 0.008856, xyz * 841 / 108 + 4 / 29, np.cbrt(xyz)), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def open_photos() -> list:
    """The paper's photos as they came, at most 500 pixels wide."""
    from PIL import Image

    folder = data_folder() / "flickr320" / "original_jpg"
    return [Image.open(folder / f"img{i}.jpg").convert("RGB") for i in range(1, 321)]


def stride(photo):
    """40 × 40 pixels of a photo, evenly spaced, as the original code of kernelized sorting took them."""
    pixels = np.asarray(photo)
    rows, columns = pixels.shape[0] // 40, pixels.shape[1] // 40
    return pixels[: 40 * rows : rows, : 40 * columns : columns]


def print_reductions() -> None:
    """How much LSOM depends on the way to 40 × 40 pixels, which the paper does not tell."""
    from PIL import Image, ImageOps

    photos = open_photos()
    filters = {name: getattr(Image.Resampling, name.upper()) for name in ("nearest", "box", "bilinear", "lanczos")}
    reductions = {"png40": load_flickr(), "every k-th pixel": np.array([stride(photo) for photo in photos])}
    for name, resampling in filters.items():
        reductions[name] = np.array([np.asarray(photo.resize((40, 40), resampling)) for photo in photos])
        fitted = [np.asarray(ImageOps.fit(photo, (40, 40), resampling)) for photo in photos]
        reductions[f"{name}, cropped to a square"] = np.array(fitted)
    print(
        "\nflickr320 reduced to 40 × 40 pixels in different ways: share right by LSOM; its held-out score / the truth's"
    )
    for name, images in reductions.items():
        for colours, convert in (("Lab", to_lab), ("Lab of the original code", convert_to_original_lab)):
            X, Y, truth = half_images(convert(images))
            model = LSOM().fit(X, Y)
            accuracy = match_accuracy(model.assignment_, truth, Y)
            scores = f"{model.best_score_:.4f} / {model.held_out_score(X, Y, truth):.4f}"
            print(f"{name:28} {colours:26} {accuracy:.3f}  {scores}", flush=True)


def run_original_kernelized_sorting() -> int:
    """KS-HSIC as its authors' code ran it: strided photos, width 1, one start from uncentred eigenvectors."""
    X, Y, truth = half_images(convert_to_original_lab(np.array([stride(photo) for photo in open_photos()])))
    K, L = KernelFamily(X).matrix(), KernelFamily(Y).matrix()
    start = sort_match(leading_eigenvectors(K)[:, 0], leading_eigenvectors(L)[:, 0])
    best = max(climb(HSIC(K, L), start, max_iter=100), key=lambda step: step.value)
    return int((best.indices == truth).sum())


def format_values(measure, indices, truth) -> str:
    return f"{measure.value(indices):.4g} / {measure.value(truth):.4g}"


def compare_on_photos() -> None:
    print(f"KS-HSIC in the original code's configuration: {run_original_kernelized_sorting()} of 320 (published 140)")
    X, Y, truth = half_images(to_lab(load_flickr()))
    x, y = KernelFamily(X), KernelFamily(Y)
    root = 10**0.5
    rows: list[tuple[str, object, Callable | None]] = [
        ("KS-HSIC, c' = 1", KSHSIC(), lambda: HSIC(x.matrix(), y.matrix())),
        ("KS-HSIC, c' = √10", KSHSIC(width=root), lambda: HSIC(x.matrix(root), y.matrix(root))),
    ]
    rows += [
        (
            f"KS-NOCCO, c' = {name}, ε = {epsilon}",
            KSNOCCO(width=c, epsilon=epsilon),
            lambda c=c, epsilon=epsilon: NOCCO(x.matrix(c), y.matrix(c), epsilon=epsilon),
        )
        for name, c in (("1", 1.0), ("√10", root))
        for epsilon in (0.01, 0.05)
    ]
    rows += [
        ("KS-MI, as published", KSMI(step="published"), None),
        ("KS-MI, working step", KSMI(), None),
        *((f"LSOM, literal, folds of seed {k}", LSOM(**LITERAL, random_state=k), None) for k in range(3)),
        *((f"LSOM, one width, folds of seed {k}", LSOM(select="start", random_state=k), None) for k in range(3)),
        *((f"LSOM, default, folds of seed {k}", LSOM(random_state=k), None) for k in range(3)),
    ]
    print("\nflickr320, left against right halves, ten eigenvalue-based starts with both signs")
    print(f"{'method':32} {'correct':>8} {'CPU s':>6}  measure found / at the truth")
    for name, matcher, measure in rows:
        begin = time.process_time()
        matcher.fit(X, Y)
        seconds = time.process_time() - begin
        accuracy = match_accuracy(matcher.assignment_, truth, Y)
        values = format_values(measure(), matcher.assignment_, truth) if measure else ""
        print(f"{name:32} {accuracy:8.3f} {seconds:6.1f}  {values}", flush=True)
    print_readings({"flickr320": [(X, Y, truth)]})
    print_rules({"flickr320": [(X, Y, truth)]})


def compare_on_toy() -> None:
    print("\nToy Y = X³, n = 100, ten draws: iterations, and accuracy against the truth / against its mirror")
    fixed = LSOM(widths=[10**0.5], lambdas=[0.1])
    for name, matcher in (
        ("KS-NOCCO", KSNOCCO()),
        ("LSOM, literal", LSOM(**LITERAL)),
        ("LSOM, one width", LSOM(select="start")),
        ("LSOM, c = √10, λ = .1", fixed),
        ("LSOM", LSOM()),
    ):
        rows = list(run_toy(matcher))
        print(f"{name:21} " + " ".join(f"{n}:{truth:.2f}/{mirror:.2f}" for n, truth, mirror, _ in rows))
        print(f"{'':21} |rank correlation| " + " ".join(f"{abs(rho):.3f}" for *_, rho in rows), flush=True)


def run_toy(matcher) -> Iterator[tuple[int, float, float, float]]:
    for seed in range(10):
        X, Y, truth = make_cubic(100, random_state=seed)
        matcher.fit(X, Y)
        mirror = sort_match(X[:, 0], -Y[:, 0])
        found = matcher.assignment_
        rho = spearmanr(X[:, 0], Y[found, 0]).statistic
        yield matcher.n_iter_, match_accuracy(found, truth), match_accuracy(found, mirror), rho


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="readings on generated relations, the toy and demo tiles")
    parser.add_argument("--rules", action="store_true", help="label-free rules for the answer, on the same")
    parser.add_argument("--pixels", action="store_true", help="other ways to reduce the photos")
    options = parser.parse_args()
    if options.choose:
        print_readings(make_groups())
    elif options.rules:
        print_rules(make_groups())
    elif options.pixels:
        print_reductions()
    else:
        compare_on_toy()
        if os.environ.get("PAIRUP_DATA"):
            compare_on_photos()
        else:
            print("\nThe Flickr tables need the photos: set PAIRUP_DATA to the folder of data.")
