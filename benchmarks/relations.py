"""Two related sets made on the spot, their true pairing known: row i of X belongs to row i of Y."""

from collections.abc import Callable
from functools import partial

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]


def noisy(rng: np.random.Generator, X: np.ndarray, Y: np.ndarray, noise: float) -> Pair:
    """Add Gaussian noise of `noise` standard deviations of each column."""
    return X + noise * X.std(0) * rng.normal(size=X.shape), Y + noise * Y.std(0) * rng.normal(size=Y.shape)


def smooth_map(rng: np.random.Generator, Z: np.ndarray, columns: int, scale: float = 0.7) -> np.ndarray:
    """Send Z through random waves."""
    W = rng.normal(size=(Z.shape[1], 40)) * scale / Z.shape[1] ** 0.5
    return np.sin(Z @ W + rng.uniform(-np.pi, np.pi, 40)) @ rng.normal(size=(40, columns)) / 40**0.5


def swiss_roll(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """A rolled sheet in space against the sheet itself, denser at one corner."""
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(n) ** 1.3), 21 * rng.random(n) ** 1.5
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return noisy(rng, np.c_[t * np.cos(t), h, t * np.sin(t)], np.c_[arc, h], noise)


def spiral(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """A spiral against a curve."""
    t = 3 * np.pi * np.sqrt(rng.random(n)) ** 1.3
    return noisy(rng, np.c_[t * np.cos(t), t * np.sin(t)], np.c_[t, 0.1 * t**1.5], noise)


def mixture(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two random smooth maps of one mixture of Gaussians in three dimensions."""
    centres = 2 * rng.normal(size=(6, 3))
    Z = centres[rng.choice(6, n, p=np.arange(6, 0, -1) / 21)] + rng.normal(size=(n, 3))
    return noisy(rng, smooth_map(rng, Z, 20, 0.4), smooth_map(rng, Z, 30, 0.4), noise)


def views(rng: np.random.Generator, n: int, noise: float, dimensions: int = 10) -> Pair:
    """Two smooth views of one mixture of Gaussians: turned into half as many dimensions more, and bent."""
    centres = 2 * (3 / dimensions) ** 0.5 * rng.normal(size=(12, dimensions))
    Z = centres[rng.choice(12, n, p=np.arange(12, 0, -1) / 78)] + rng.normal(size=(n, dimensions))
    Z *= np.geomspace(1.5, 0.5, dimensions)
    columns = 3 * dimensions // 2

    def view() -> np.ndarray:
        return Z @ np.linalg.qr(rng.normal(size=(columns, dimensions)))[0].T + 0.5 * smooth_map(rng, Z, columns)

    return noisy(rng, view(), view(), noise)


def rotation(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Skewed data against themselves, turned into more dimensions."""
    Z = rng.gamma(2.0, size=(n, 4)) * [4, 3, 2, 1]
    return noisy(rng, Z, Z @ np.linalg.qr(rng.normal(size=(8, 4)))[0].T, noise)


def graph(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two views of one geometric graph, each with a share `noise` of its edges redrawn, in spectral coordinates."""
    Z = rng.random((n, 2)) ** [1.5, 1.0]
    upper = np.triu(np.ones((n, n), bool), 1)
    edges = (rng.random((n, n)) < np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 0.02)) & upper

    def view() -> np.ndarray:
        redrawn = rng.random((n, n)) < noise
        A = (edges & ~redrawn) | (redrawn & upper & (rng.random((n, n)) < 2 * edges.mean()))
        A = (A | A.T) + np.eye(n)
        d = A.sum(1)
        w, V = np.linalg.eigh(A / np.sqrt(d[:, None] * d))
        return V[:, -12:] * w[-12:] * rng.choice([-1.0, 1.0], 12) * n**0.5

    return view(), view()


def embeddings(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two embeddings of the same items: saturating linear maps of twelve factors."""
    Z = rng.normal(size=(n, 12)) * np.geomspace(3, 0.3, 12)
    Z[:, :3] += 3 * rng.normal(size=(8, 3))[rng.integers(0, 8, n)]
    return noisy(rng, np.tanh(Z @ rng.normal(size=(12, 40)) / 4), np.tanh(Z @ rng.normal(size=(12, 64)) / 4), noise)


def fields(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Left and right halves of random pictures: three fields of falling spectrum, whose strengths vary."""
    size = 16
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size))) * size + 0.5
    waves = np.fft.fft2(rng.normal(size=(n, 3, size, size))) / frequency**2.0
    waves[:, :, 0, 0] *= rng.uniform(0.3, 1.5)
    pictures = np.fft.ifft2(waves).real * rng.gamma(2.0, size=(n, 3, 1, 1))
    pictures = np.exp(0.5 * pictures / pictures.std())
    halves = np.split(pictures, 2, axis=3)
    return noisy(rng, *(h.reshape(n, -1) for h in halves), noise)


def textures(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Left and right halves of random textures: what they share is colour and contrast, the rest is their own."""
    size = 16
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size))) * size + 1.0
    waves = np.fft.fft2(rng.normal(size=(n, 3, size, size))) / frequency ** rng.uniform(0.8, 1.6)
    pictures = np.fft.ifft2(waves).real * rng.gamma(2.0, size=(n, 1, 1, 1)) ** rng.uniform(0, 1)
    pictures += rng.normal(size=(n, 3, 1, 1)) * pictures.std() * rng.uniform(0.3, 1.5)
    return noisy(rng, *(half.reshape(n, -1) for half in np.split(pictures, 2, axis=3)), noise)


def private(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two random smooth maps, each of what the sets share and of something of its own, more of it with the noise."""
    Z, A, B = rng.gamma(1.5, size=(n, 3)), rng.gamma(1.5, size=(n, 3)), rng.gamma(1.5, size=(n, 3))
    share = 0.2 + noise
    return smooth_map(rng, np.c_[Z, share * A], 20, 0.4), smooth_map(rng, np.c_[Z, share * B], 30, 0.4)


def units(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Columns in wildly different units against a linear mixture of them in others."""
    Z = rng.gamma(1.5, size=(n, 4))
    return noisy(rng, Z * [1, 1000, 1e-3, 10], Z @ rng.normal(size=(4, 6)) * [100, 1, 1, 1e-2, 5, 1], noise)


def sentences(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two language models' view of the same sentences: many dimensions, none of which dominates, and topics."""
    k = int(rng.integers(30, 90))
    falling = np.arange(1, k + 1) ** -rng.uniform(0, 0.5)
    topics = rng.uniform(0, 1.5) * rng.normal(size=(25, k))
    Z = (rng.normal(size=(n, k)) + topics[rng.integers(25, size=n)]) * falling

    def view(columns: int) -> np.ndarray:
        seen = np.tanh(Z @ rng.normal(size=(k, columns)) / k**0.5 * rng.uniform(0.3, 1.5))
        seen += (0.2 + 2 * noise) * seen.std() * rng.normal(size=seen.shape)
        return seen / np.linalg.norm(seen, axis=1, keepdims=True)

    return view(int(rng.integers(100, 400))), view(int(rng.integers(60, 300)))


def clusters(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two sets with the same clusters and nothing else in common: no pair is identified, its cluster is."""
    k = int(rng.integers(3, 8))
    kind = rng.integers(k, size=n)
    return tuple(
        2 * rng.normal(size=(k, columns))[kind] + (0.15 + noise) * rng.normal(size=(n, columns)) for columns in (6, 9)
    )


def nothing(rng: np.random.Generator, n: int, noise: float) -> Pair:
    """Two sets that have nothing to do with each other."""
    return rng.normal(size=(n, 5)), rng.gamma(2.0, size=(n, 6))


RELATIONS: dict[str, Callable[[np.random.Generator, int, float], Pair]] = {
    "swiss roll": swiss_roll,
    "spiral": spiral,
    "mixture": mixture,
    "rotation": rotation,
    "graph": graph,
    "embeddings": embeddings,
    "fields": fields,
    "textures": textures,
    "private": private,
    "units": units,
    "sentences": sentences,
    "clusters": clusters,
    "nothing": nothing,
}

# For many objects; beside those of the study, whose figures they are not part of.
MANY: dict[str, Callable[[np.random.Generator, int, float], Pair]] = {
    "views": views,
    "views20": partial(views, dimensions=20),
    "views50": partial(views, dimensions=50),
}
