"""Sweeps over a raster, compiled: box means, swaps at an offset, swaps beside similar items.

A raster of H × W positions with d features has the shape (H, d, W): every loop runs along a row, and the compiler turns
it into vector instructions. Rows from `top` to `bottom` are a band; bands can be worked on at the same time.
"""

import numpy as np

from pairup.compiled import compiled
from pairup.types import Array, BoolArray, Float32Array, Int32Array

HELD = np.float32(-1e30)  # added to the gain where an item must not move
NOISE = 8192  # entries of the table of random numbers, a power of two; a row more follows
STRIDE = 4099  # entries between the parts of that table that two rows begin with
SHORT = 32  # columns between two positions, below which whole rows are quicker than blocks


@compiled
def average_boxes(
    Z: Float32Array, mass: Float32Array, M: Float32Array, errors: Array, half: int, top: int, bottom: int
) -> None:
    """Set M to the mean of Z, weighted by `mass`, within `half` rows and columns of each position of a band.

    Parameters
    ----------
    Z : ndarray of shape (H, d, W)
        Features at each position.
    mass : ndarray of shape (H, W)
        Weight of each position, 0 where nothing is.
    M : ndarray of shape (H, d, W)
        The means; changed in place.
    errors : ndarray of shape (H,)
        Σ mass · ‖Z − M‖² of each row; changed in place. Their sum does not depend on the bands.
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
        for p in range(d):
            for c in range(W):
                inverse[c] = (inverse[c] if p else 0.0) + (Z[centre, p, c] - M[centre, p, c]) ** 2
        error = 0.0
        for c in range(W):
            error += mass[centre, c] * inverse[c]
        errors[centre] = error


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
def swap_beside(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    row: int,
    right: int,
    taken: Float32Array,
    noise: Float32Array,
    temperature: np.float32,
    gain: Float32Array,
    features: Float32Array,
    numbers: Int32Array,
) -> None:
    """Swap the items of one row with those few columns to the right, where the sum of x · m grows.

    Blocks of few columns would be short loops; so all columns are tried, and `taken` says which count.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features, changed in place, and means.
    items : ndarray of shape (H, W)
        The item at each position; changed in place.
    held : ndarray of shape (H, W)
        0 where an item may move, `HELD` elsewhere.
    row : int
        The row.
    right : int
        Columns between the two positions of a pair.
    taken : ndarray of shape (at least W − right,)
        0 at the first position of a pair, `HELD` elsewhere; no position is in two pairs.
    noise : ndarray of shape (at least W − right,)
        Exponentially distributed numbers, as in `swap_rows`.
    temperature : float32
        The temperature.
    gain, features, numbers : ndarray of shape (at least W,)
        Work space.
    """
    W = Z.shape[2]
    n = W - right
    free, away = held[row], held[row, right:]
    for c in range(n):
        gain[c] = temperature * noise[c] + taken[c] + free[c] + away[c]
    for p in range(Z.shape[1]):
        x, y, u, v = Z[row, p], Z[row, p, right:], M[row, p], M[row, p, right:]
        for c in range(n):
            gain[c] += (x[c] - y[c]) * (v[c] - u[c])
    for p in range(Z.shape[1]):
        x, y, after = Z[row, p], Z[row, p, right:], features[right:]
        for c in range(W):
            features[c] = x[c]
        for c in range(n):
            x[c] = after[c] if gain[c] > 0 else features[c]
        for c in range(n):
            s = y[c]
            y[c] = features[c] if gain[c] > 0 else s
    i, j, later = items[row], items[row, right:], numbers[right:]
    for c in range(W):
        numbers[c] = i[c]
    for c in range(n):
        i[c] = later[c] if gain[c] > 0 else numbers[c]
    for c in range(n):
        other = j[c]
        j[c] = numbers[c] if gain[c] > 0 else other


@compiled
def sweep(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    top: int,
    bottom: int,
    apart: int,
    first: int,
    last: int,
    offsets: Int32Array,
    noise: Float32Array,
    temperature: np.float32,
) -> None:
    """Try to swap the positions of some rows of a band with those at each of some offsets.

    A band consists of `apart` classes of rows, every row of which is `apart` rows from the next. Swaps stay inside a
    class: it fits into the cache of a core however far the swaps go, and classes can be worked on at the same time.
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
    apart : int
        Rows from one row of a class to the next.
    first, last : int
        The classes, of those from 0 to `apart` − 1: from `first` to `last` − 1.
    offsets : ndarray of shape (k, 4)
        Rows of a class (not negative), columns (not negative where rows are 0), where the blocks begin, where the noise
        begins.
    noise : ndarray of shape (NOISE + W,)
        Exponentially distributed numbers.
    temperature : float32
        The temperature.
    """
    W = Z.shape[2]
    gain, features = np.empty(W, dtype=np.float32), np.empty(W, dtype=np.float32)
    taken, numbers = np.empty(W, dtype=np.float32), np.empty(W, dtype=np.int32)
    for member in range(first, last):
        count = (bottom - top - member + apart - 1) // apart
        for t in range(len(offsets)):
            down, right, begin, at = offsets[t]
            if down == 0 and right < SHORT:
                for c in range(W - right):
                    taken[c] = np.float32(0) if (c + begin) // right % 2 == 0 else HELD
            for k in range(count - down):
                r = top + member + k * apart
                part = noise[(at + r * STRIDE) % NOISE :]  # another part of the table for each row
                if down == 0 and right < SHORT:
                    swap_beside(Z, M, items, held, r, right, taken, part, temperature, gain, features, numbers)
                elif down == 0:
                    c = begin % (2 * right) - 2 * right
                    while c < W - right:
                        left = max(c, 0)
                        n = min(c + right, W - right) - left
                        if n > 0:
                            swap_rows(Z, M, items, held, r, r, left, left + right, n, part[left:], temperature, gain)
                        c += 2 * right
                elif (k + begin) // down % 2 == 0 and abs(right) < W:
                    n, left = W - abs(right), max(-right, 0)
                    swap_rows(Z, M, items, held, r, r + down * apart, left, left + right, n, part, temperature, gain)


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
def pack(
    Z: Float32Array,
    M: Float32Array,
    items: Int32Array,
    held: Float32Array,
    packed: Float32Array,
    where: Int32Array,
    top: int,
    bottom: int,
) -> None:
    """Lay what `propose_similar` reads of a position side by side in memory, and tell where each item is.

    Parameters
    ----------
    Z, M : ndarray of shape (H, d, W)
        Features and means.
    items : ndarray of shape (H, W)
        The item at each position, −1 where none is.
    held : ndarray of shape (H, W)
        0 where an item may move, `HELD` elsewhere.
    packed : ndarray of shape ((H + 2) · (W + 2), at least 2 d + 1)
        Features, means and `held` of each position of a raster with an edge of one position; changed in place.
    where : ndarray of shape (m,)
        Position of each item in that raster, (r + 1) · (W + 2) + c + 1; changed in place.
    top, bottom : int
        The band of rows.
    """
    d, W = Z.shape[1], Z.shape[2]
    for r in range(top, bottom):
        start = (r + 1) * (W + 2) + 1
        for p in range(d):
            for c in range(W):
                packed[start + c, p] = Z[r, p, c]
                packed[start + c, d + p] = M[r, p, c]
        for c in range(W):
            packed[start + c, 2 * d] = held[r, c]
            if items[r, c] >= 0:
                where[items[r, c]] = start + c


@compiled
def propose_similar(
    items: Int32Array,
    packed: Float32Array,
    where: Int32Array,
    similar: Int32Array,
    top: int,
    bottom: int,
    noise: Float32Array,
    temperature: np.float32,
    seed: int,
    wanted: Int32Array,
    counts: Int32Array,
) -> None:
    """Find the positions of a band whose items should be beside one of the items most similar to them.

    Parameters
    ----------
    items : ndarray of shape (H, W)
        The item at each position, −1 where none is.
    packed : ndarray of shape ((H + 2) · (W + 2), at least 2 d + 1)
        Features, means and what is held, as set by `pack`; `HELD` at the edge.
    where : ndarray of shape (m,)
        Position of each item, as set by `pack`.
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
    wanted : ndarray of shape (H, 2, W)
        For each row positions, and those with which a swap is worth it, as `where` counts them; changed in place.
    counts : ndarray of shape (H,)
        How many they are; changed in place.
    """
    W = items.shape[1]
    d = (packed.shape[1] - 1) // 2
    k, low = np.uint64(similar.shape[1]), np.uint64(0xFFFF)
    flat = similar.ravel()
    target, shift, gain = np.empty(W, dtype=np.int32), np.empty(W, dtype=np.int32), np.empty(W, dtype=np.float32)
    # Each loop reads one place that is far from the last: short loops wait for many such places at once.
    for r in range(top, bottom):
        start = (r + 1) * (W + 2) + 1
        for c in range(W):
            state = scramble(np.uint64(seed) * np.uint64(0x100000000) + np.uint64(r * W + c))
            which = ((state >> np.uint64(48)) * k) >> np.uint64(16)
            down = np.int32((((state >> np.uint64(32)) & low) * np.uint64(3)) >> np.uint64(16)) - 1
            right = np.int32((((state >> np.uint64(16)) & low) * np.uint64(3)) >> np.uint64(16)) - 1
            target[c] = max(items[r, c], 0) * similar.shape[1] + np.int32(which)
            shift[c] = down * (W + 2) + right
            gain[c] = temperature * noise[np.int64(state & np.uint64(NOISE - 1))] + packed[start + c, 2 * d]
        for c in range(W):
            target[c] = flat[target[c]]
        for c in range(W):
            target[c] = where[target[c]] + shift[c]
        for c in range(W):
            gain[c] += packed[target[c], 2 * d]
        for c in range(W):
            here, there, total = start + c, target[c], gain[c]
            for p in range(d):
                total += (packed[here, p] - packed[there, p]) * (packed[there, d + p] - packed[here, d + p])
            gain[c] = total
        count = 0
        for c in range(W):  # without a branch, which nobody could foretell
            wanted[r, 0, count] = start + c
            wanted[r, 1, count] = target[c]
            count += gain[c] > 0
        counts[r] = count


@compiled
def choose_swaps(wanted: Int32Array, counts: Int32Array, touched: BoolArray, chosen: Int32Array) -> int:
    """Choose among the swaps that were proposed: of two with a position in common only the first.

    Parameters
    ----------
    wanted : ndarray of shape (H, 2, W)
        Pairs of positions.
    counts : ndarray of shape (H,)
        How many pairs each row has.
    touched : ndarray of bool, shape (at least the last position + 1,)
        Work space.
    chosen : ndarray of shape (at least half the positions, 2)
        The pairs chosen; changed in place.

    Returns
    -------
    int
        Their number.
    """
    touched[:] = False
    made = 0
    for r in range(len(counts)):
        for k in range(counts[r]):
            a, b = wanted[r, 0, k], wanted[r, 1, k]
            if a != b and not touched[a] and not touched[b]:
                touched[a] = touched[b] = True
                chosen[made, 0], chosen[made, 1] = a, b
                made += 1
    return made


@compiled
def make_swaps(Z: Float32Array, items: Int32Array, chosen: Int32Array) -> None:
    """Make swaps that have no position in common.

    Parameters
    ----------
    Z : ndarray of shape (H, d, W)
        Features; changed in place.
    items : ndarray of shape (H, W)
        The item at each position; changed in place.
    chosen : ndarray of shape (k, 2)
        Pairs of positions, (r + 1) · (W + 2) + c + 1.
    """
    d, width, one = Z.shape[1], np.uint64(Z.shape[2] + 2), np.uint64(1)
    for k in range(len(chosen)):
        here, there = np.uint64(chosen[k, 0]), np.uint64(chosen[k, 1])  # unsigned: the quicker division
        r, c = here // width - one, here % width - one
        s, q = there // width - one, there % width - one
        for p in range(d):
            z = Z[r, p, c]
            Z[r, p, c] = Z[s, p, q]
            Z[s, p, q] = z
        i = items[r, c]
        items[r, c] = items[s, q]
        items[s, q] = i


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
