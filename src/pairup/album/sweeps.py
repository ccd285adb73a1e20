"""Sweeps over a raster, compiled: box means, swaps at an offset, swaps beside similar items.

A raster of H × W positions with d features has the shape (H, d, W): every loop runs along a row, and the compiler turns
it into vector instructions. Rows from `top` to `bottom` are a band; bands can be worked on at the same time.
"""

import numpy as np

from pairup.compiled import compiled
from pairup.types import Float32Array, Int32Array

HELD = np.float32(-1e30)  # added to the gain where an item must not move
NOISE = 8192  # entries of the table of random numbers, a power of two; a row more follows


@compiled
def average_boxes(Z: Float32Array, mass: Float32Array, M: Float32Array, half: int, top: int, bottom: int) -> None:
    """Set M to the mean of Z, weighted by `mass`, within `half` rows and columns of each position of a band.

    Parameters
    ----------
    Z : ndarray of shape (H, d, W)
        Features at each position.
    mass : ndarray of shape (H, W)
        Weight of each position, 0 where nothing is.
    M : ndarray of shape (H, d, W)
        The means; changed in place.
    half : int
        Half the side of the box.
    top, bottom : int
        The band of rows.
    """
    H, d, W = Z.shape
    sums, weight = np.zeros((d, W)), np.zeros(W)  # float64: they are updated row by row
    along, inverse = np.zeros(W + 1), np.empty(W)
    for r in range(max(top - half - 1, 0), bottom + half):
        if r < H:
            for c in range(W):
                weight[c] += mass[r, c]
            for p in range(d):
                for c in range(W):
                    sums[p, c] += mass[r, c] * Z[r, p, c]
        centre = r - half
        if centre < top:
            continue
        gone = centre - half - 1
        if gone >= 0:
            for c in range(W):
                weight[c] -= mass[gone, c]
            for p in range(d):
                for c in range(W):
                    sums[p, c] -= mass[gone, c] * Z[gone, p, c]
        for p in range(-1, d):
            total = 0.0
            for c in range(W):
                total += weight[c] if p < 0 else sums[p, c]
                along[c + 1] = total
            for c in range(W):
                box = along[min(c + half + 1, W)] - along[max(c - half, 0)]
                if p < 0:
                    inverse[c] = 1 / box if box > 0.5 else 0.0
                else:
                    M[centre, p, c] = box * inverse[c]


@compiled
def residual(Z: Float32Array, M: Float32Array, mass: Float32Array) -> float:
    """Return the mean squared distance between the items and the means around them.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features and means.
    mass : ndarray of shape (H, W)
        Weight of each position.

    Returns
    -------
    float
        Σ mass · ‖Z − M‖² / Σ mass.
    """
    total, weight = 0.0, 0.0
    for r in range(Z.shape[0]):
        for c in range(Z.shape[2]):
            weight += mass[r, c]
        for p in range(Z.shape[1]):
            for c in range(Z.shape[2]):
                total += mass[r, c] * (Z[r, p, c] - M[r, p, c]) ** 2
    return total / weight


@compiled
def swap_rows(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    a: int,
    b: int,
    first: int,
    second: int,
    n: int,
    noise: Float32Array,
    temperature: np.float32,
    gain: Float32Array,
) -> None:
    """Swap the items of n pairs of positions, from (a, first) and (b, second) on, where the sum of x · m grows.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features, changed in place, and means.
    items : ndarray of shape (H, W)
        The item at each position; changed in place.
    held : ndarray of shape (H, W)
        0 where an item may move, `HELD` elsewhere.
    a, b : int
        The two rows.
    first, second : int
        The first column in each.
    n : int
        Number of pairs.
    noise : ndarray of shape (at least n,)
        Exponentially distributed numbers: a loss of less than `temperature` times these is accepted (Metropolis).
    temperature : float32
        The temperature.
    gain : ndarray of shape (at least n,)
        Work space.
    """
    for c in range(n):
        gain[c] = temperature * noise[c] + held[a, first + c] + held[b, second + c]
    for p in range(Z.shape[1]):
        x, y, u, v = Z[a, p, first:], Z[b, p, second:], M[a, p, first:], M[b, p, second:]
        for c in range(n):
            gain[c] += (x[c] - y[c]) * (v[c] - u[c])
    for p in range(Z.shape[1]):
        x, y = Z[a, p, first:], Z[b, p, second:]
        for c in range(n):  # both are written in any case: a branch would end the vector instructions
            s, t = x[c], y[c]
            x[c] = t if gain[c] > 0 else s
            y[c] = s if gain[c] > 0 else t
    i, j = items[a, first:], items[b, second:]
    for c in range(n):
        one, other = i[c], j[c]
        i[c] = other if gain[c] > 0 else one
        j[c] = one if gain[c] > 0 else other


@compiled
def sweep(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    top: int,
    bottom: int,
    offsets: Int32Array,
    noise: Float32Array,
    temperature: np.float32,
) -> None:
    """Try to swap the positions of a band with those at each of some offsets.

    Positions are taken in blocks as high (or as wide) as the offset, so that each is in one pair at most.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features, changed in place, and means.
    items : ndarray of shape (H, W)
        The item at each position; changed in place.
    held : ndarray of shape (H, W)
        0 where an item may move, `HELD` elsewhere.
    top, bottom : int
        The band of rows.
    offsets : ndarray of shape (k, 4)
        Rows (not negative), columns (not negative where rows are 0), where the blocks begin, where the noise begins.
    noise : ndarray of shape (NOISE + W,)
        Exponentially distributed numbers.
    temperature : float32
        The temperature.
    """
    W = Z.shape[2]
    gain = np.empty(W, dtype=np.float32)
    for t in range(len(offsets)):
        down, right, begin, at = offsets[t]
        for r in range(top, bottom - down):
            at = (at * 5 + 4099) % NOISE  # another part of the table for each row
            if down == 0:
                c = begin % (2 * right) - 2 * right
                while c < W - right:
                    left = max(c, 0)
                    n = min(c + right, W - right) - left
                    if n > 0:
                        swap_rows(Z, M, items, held, r, r, left, left + right, n, noise[at:], temperature, gain)
                    c += 2 * right
            elif ((r + begin) // down) % 2 == 0 and abs(right) < W:
                n, left = W - abs(right), max(-right, 0)
                swap_rows(Z, M, items, held, r, r + down, left, left + right, n, noise[at:], temperature, gain)


@compiled
def scramble(number: np.uint64) -> np.uint64:
    """Return a random number for a number (splitmix64): positions have their own, whatever band they are in.

    Parameters
    ----------
    number : uint64
        Any number.

    Returns
    -------
    uint64
        The random number.
    """
    z = number * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def propose_similar(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    where: Int32Array,
    similar: Int32Array,
    top: int,
    bottom: int,
    noise: Float32Array,
    temperature: np.float32,
    seed: int,
    wanted: Int32Array,
) -> None:
    """Find for each position of a band whether its item should be beside one of the items most similar to it.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features and means.
    items : ndarray of shape (H, W)
        The item at each position, −1 where none is.
    held : ndarray of shape (H, W)
        0 where an item may move, `HELD` elsewhere.
    where : ndarray of shape (m,)
        Position r · W + c of each item.
    similar : ndarray of shape (m, k)
        The items most similar to each item.
    top, bottom : int
        The band of rows.
    noise : ndarray of shape (NOISE + W,)
        Exponentially distributed numbers.
    temperature : float32
        The temperature.
    seed : int
        Seed of the proposals.
    wanted : ndarray of shape (H, W)
        The position with which a swap is worth it, or −1; changed in place.
    """
    H, d, W = Z.shape
    k = np.uint64(similar.shape[1])
    low = np.uint64(0xFFFF)
    for r in range(top, bottom):
        for c in range(W):
            wanted[r, c] = -1
            if held[r, c] < 0:
                continue
            state = scramble(np.uint64(seed) * np.uint64(0x100000000) + np.uint64(r * W + c))
            other = where[similar[items[r, c], np.int64(((state >> np.uint64(48)) * k) >> np.uint64(16))]]
            s = other // W + np.int64((((state >> np.uint64(32)) & low) * np.uint64(3)) >> np.uint64(16)) - 1
            q = other % W + np.int64((((state >> np.uint64(16)) & low) * np.uint64(3)) >> np.uint64(16)) - 1
            if s < 0 or s >= H or q < 0 or q >= W or held[s, q] < 0:
                continue
            gain = temperature * noise[np.int64(state & np.uint64(NOISE - 1))]
            for p in range(d):
                gain += (Z[r, p, c] - Z[s, p, q]) * (M[s, p, q] - M[r, p, c])
            if gain > 0:
                wanted[r, c] = s * W + q


@compiled
def make_swaps(Z: Float32Array, items: Int32Array, wanted: Int32Array, touched: Int32Array, stamp: int) -> int:
    """Make the swaps that were proposed; of two with a position in common only the first.

    Parameters
    ----------
    Z : ndarray of shape (H, d, W)
        Features; changed in place.
    items : ndarray of shape (H, W)
        The item at each position; changed in place.
    wanted : ndarray of shape (H, W)
        With which position to swap, −1 for none.
    touched : ndarray of shape (H, W)
        Stamp of the last swap at each position; changed in place.
    stamp : int
        The stamp of these swaps, not used before.

    Returns
    -------
    int
        The number of swaps.
    """
    H, d, W = Z.shape
    made = 0
    for r in range(H):
        for c in range(W):
            if wanted[r, c] < 0 or touched[r, c] == stamp:
                continue
            s, q = wanted[r, c] // W, wanted[r, c] % W
            if touched[s, q] == stamp or (s == r and q == c):
                continue
            touched[r, c] = touched[s, q] = stamp
            for p in range(d):
                z = Z[r, p, c]
                Z[r, p, c] = Z[s, p, q]
                Z[s, p, q] = z
            i = items[r, c]
            items[r, c] = items[s, q]
            items[s, q] = i
            made += 1
    return made


@compiled
def find_positions(items: Int32Array, where: Int32Array) -> None:
    """Set the position r · W + c of each item.

    Parameters
    ----------
    items : ndarray of shape (H, W)
        The item at each position, −1 where none is.
    where : ndarray of shape (m,)
        The positions; changed in place.
    """
    H, W = items.shape
    for r in range(H):
        for c in range(W):
            if items[r, c] >= 0:
                where[items[r, c]] = r * W + c


def draw_noise(width: int) -> Float32Array:
    """Return the table of exponentially distributed numbers for rows of a width.

    Parameters
    ----------
    width : int
        Positions in a row.

    Returns
    -------
    ndarray of shape (NOISE + width,)
        The numbers; the same at each call, for seeds choose where a row begins.
    """
    return np.random.default_rng(0).exponential(size=NOISE + width).astype(np.float32)
