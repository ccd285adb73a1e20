"""Deterministic annealing of quadratic measures: a soft plan that hardens as the temperature falls."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Protocol

import numpy as np

from pairup.assignment import SMALL, assign
from pairup.climb import Step, climb
from pairup.compiled import compiled
from pairup.measures import Quadratic
from pairup.types import Array, Float32Array, Indices


class Form(Protocol):
    """A quadratic form of plans, tr(K P L Pᵀ), or a sum of them."""

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return K P L."""

    def value(self, indices: Indices) -> float:
        """Return Σ K∘L[p, p] over the matched objects."""


@dataclass(frozen=True)
class Dense:
    """K and L as matrices."""

    K: Float32Array
    L: Float32Array

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return K P L."""
        return np.asarray(self.K @ plan @ self.L, dtype=np.float32)

    def value(self, indices: Indices) -> float:
        """Return Σ K∘L[p, p] over the matched objects."""
        return paired_product(self.K, self.L, indices)


def paired_product(K: Float32Array, L: Float32Array, indices: Indices) -> float:
    """Return Σ K∘L[p, p] over the objects that have a partner, those with indices ≥ 0."""
    i = np.flatnonzero(indices >= 0)
    p = indices[i]
    if len(i) > SMALL:
        return float(_paired_product(K, L, i, p))
    return float(np.vdot(K[i][:, i], L[p][:, p]))


@compiled
def _paired_product(K: Float32Array, L: Float32Array, i: Indices, p: Indices) -> float:
    total = 0.0
    end = len(i) // 4 * 4
    for k, row in zip(i, p):  # noqa: B905  numba knows no strict
        x, y = K[k], L[row]
        s0 = s1 = s2 = s3 = np.float32(0)  # four sums at once: one would wait for each addition
        for j in range(0, end, 4):
            s0 += x[i[j]] * y[p[j]]
            s1 += x[i[j + 1]] * y[p[j + 1]]
            s2 += x[i[j + 2]] * y[p[j + 2]]
            s3 += x[i[j + 3]] * y[p[j + 3]]
        for j in range(end, len(i)):
            s0 += x[i[j]] * y[p[j]]
        total += float(s0 + s1 + s2 + s3)
    return total


@dataclass(frozen=True)
class LowRank:
    """The sum over k of forms whose kernels share their directions: K_k = A S_k Aᵀ and L_k = B T_k Bᵀ.

    Their diagonals are left out, and no kernel is ever formed: the profit of all costs some 8·n·m·rank operations,
    half of them if the diagonals may stay in it. Among many objects those weigh little.
    """

    A: Float32Array
    S: Float32Array
    B: Float32Array
    T: Float32Array
    excludes_self: bool = True

    @cached_property
    def _diagonals(self) -> tuple[Float32Array, Float32Array]:
        a, b = ((Z @ C * Z).sum(axis=2) for Z, C in ((self.A, self.S), (self.B, self.T)))
        return a, b

    @cached_property
    def _own(self) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]:
        """Return a, b, Σ_k α_k T_k, Σ_k β_k S_k and Σ_k α_k β_k, where α_k·a and β_k·b are nearly the k-th diagonals.

        Those of kernels of one set hardly differ but by a factor.
        """
        (u, s, v), (w, t, z) = (np.linalg.svd(d, full_matrices=False) for d in self._diagonals)
        alpha, beta = u[:, 0] * s[0], w[:, 0] * t[0]
        return v[0], z[0], np.tensordot(alpha, self.T, 1), np.tensordot(beta, self.S, 1), alpha @ beta

    def profit(self, plan: Float32Array) -> Float32Array:
        """Return Σ_k (A S_k Aᵀ − α_k·diag a) P (B T_k Bᵀ − β_k·diag b)."""
        right = plan @ self.B
        W = (self.S @ (self.A.T @ right) @ self.T).sum(axis=0) @ self.B.T
        G: Float32Array
        if not self.excludes_self:
            G = self.A @ W
            return G
        a, b, T, S, both = self._own
        W -= S @ ((self.A.T @ plan) * b)
        V = (right * -a[:, None]) @ T
        G = np.hstack([self.A, V]) @ np.vstack([W, self.B.T])
        own = plan * (both * b)
        own *= a[:, None]
        G += own
        return G

    def value(self, indices: Indices) -> float:
        """Return Σ_k Σ K_k∘L_k[p, p] over the matched objects."""
        i = np.flatnonzero(indices >= 0)
        p = indices[i]
        M = self.A[i].T @ self.B[p]
        a, b = self._diagonals
        return float(np.vdot((self.S @ M @ self.T).sum(axis=0), M) - np.vdot(a[:, i], b[:, p]))


FORBIDDEN = -60.0  # exp of it is nothing beside exp(0), and float32 still holds its inverse
NO_ANCHORS = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
COOLING = tuple(np.geomspace(5, 200, 15))
RECOOLING = tuple(np.geomspace(20, 200, 6))


@dataclass(frozen=True)
class Terms:
    """What a plan has to keep to: how many pairs there are, which are known, what is thought of the others.

    Parameters
    ----------
    n, m : how many objects X and Y have.
    pairs : how many pairs to form, at most min(n, m).
    anchors : known pairs, as the indices of their x and of their y.
    prior : scores of all pairs (larger is likelier), scaled to at most 1 in modulus, times their weight.
    """

    n: int
    m: int
    pairs: int
    anchors: tuple[Indices, Indices]
    prior: Float32Array | None = None

    @property
    def is_permutation(self) -> bool:
        """Whether everything has a partner."""
        return self.n == self.m == self.pairs

    def bind(self, profit: Float32Array) -> None:
        """Let known pairs have no rival, in place."""
        rows, columns = self.anchors
        if len(rows):
            profit[rows, :] = FORBIDDEN
            profit[:, columns] = FORBIDDEN
            profit[rows, columns] = 0.0

    def impose(self, indices: Indices) -> Indices:
        """Return a matching with the known pairs in it; whoever held one of their objects gets the one set free.

        >>> known = np.array([0]), np.array([2])
        >>> Terms(3, 3, 3, known).impose(np.array([0, 1, 2]))
        array([2, 1, 0])
        """
        imposed = indices.copy()
        for i, j in zip(*self.anchors, strict=True):
            imposed[imposed == j] = imposed[i]
            imposed[i] = j
        return imposed

    def uniform(self) -> Float32Array:
        """Return the plan that knows nothing but the anchors."""
        rows, columns = self.anchors
        plan = np.full((self.n, self.m), self.pairs / (self.n * self.m), dtype=np.float32)
        plan[rows, :] = 0.0
        plan[:, columns] = 0.0
        plan[rows, columns] = 1.0
        return plan

    def hard(self, indices: Indices) -> Float32Array:
        """Return a matching as a plan of zeros and ones."""
        plan = np.zeros((self.n, self.m), dtype=np.float32)
        matched = np.flatnonzero(indices >= 0)
        plan[matched, indices[matched]] = 1.0
        return plan

    def start(self, indices: Indices, *, trust: float = 0.5) -> Float32Array:
        """Return a plan between a matching and the uniform plan."""
        plan: Float32Array = np.float32(1.0 - trust) * self.uniform() + np.float32(trust) * self.hard(indices)
        return plan

    def round(self, plan: Array | Float32Array) -> Indices:
        """Return the matching of largest total plan that keeps to the terms; −1 where x has no partner."""
        scores = np.array(plan, dtype=np.float64)
        rows, columns = self.anchors
        scores[rows, columns] += 1.0 + float(scores.max(initial=0.0)) * min(self.n, self.m)
        if self.pairs == min(self.n, self.m):
            return assign(scores)
        # Dummies take what stays alone: m − pairs of them on the side of X, n − pairs on the side of Y.
        size = self.n + self.m - self.pairs
        padded = np.zeros((size, size))
        padded[: self.n, : self.m] = scores
        padded[self.n :, self.m :] = -1.0 - float(scores.max(initial=0.0)) * size
        indices = assign(padded)[: self.n]
        indices[indices >= self.m] = -1
        return indices


def sinkhorn(
    scores: Float32Array, potential: Float32Array, terms: Terms, *, sweeps: int = 10
) -> tuple[Float32Array, Float32Array]:
    """Return the plan exp(scores + a + b) with the sums of `terms`, and b, from which the next call starts.

    With P = diag(u)·E·diag(v) each sweep costs two products of a matrix and a vector. Before exponentiation the
    largest entry of every row and column is moved to 0, so nothing overflows, and no row or column vanishes.
    Objects without a partner go to one slack row and one slack column, whose sums are their numbers.
    `scores` is overwritten.
    """
    if not terms.is_permutation:
        slack = np.zeros((terms.n + 1, terms.m + 1), dtype=scores.dtype)
        slack[:-1, :-1] = scores
        rows, columns = terms.anchors
        slack[rows, -1] = slack[-1, columns] = slack[-1, -1] = FORBIDDEN
        scores = slack
    row_sums, column_sums = _sums(terms, scores.shape)
    scores += potential
    scores -= scores.max(axis=1)[:, None]
    top = scores.max(axis=0)
    scores -= top
    np.maximum(scores, FORBIDDEN, out=scores)
    E = np.exp(scores, out=scores)
    v = np.exp(np.maximum(top, FORBIDDEN))  # undoes the move of the columns: `potential` is where the last call ended
    u = row_sums
    for _ in range(sweeps):
        u = row_sums / (E @ v)
        v = column_sums / (u @ E)
    E *= u[:, None]
    E *= v
    potential = potential - top + np.log(np.maximum(v, 1e-30))
    return E[: terms.n, : terms.m], potential


def _sums(terms: Terms, shape: tuple[int, ...]) -> tuple[Float32Array, Float32Array]:
    rows, columns = np.ones(shape[0], dtype=np.float32), np.ones(shape[1], dtype=np.float32)
    if not terms.is_permutation:
        rows[-1] = max(terms.m - terms.pairs, 1e-6)
        columns[-1] = max(terms.n - terms.pairs, 1e-6)
    return rows, columns


def annealed(
    forms: Sequence[Form],
    plan: Float32Array,
    terms: Terms,
    *,
    betas: Sequence[float] = RECOOLING,
    updates: int = 3,
) -> Iterator[Float32Array]:
    """Yield the plan after each inverse temperature β: P ← Sinkhorn(exp(β·G / max|G|)), G = Σ_k K_k P L_k.

    Parameters
    ----------
    forms : one or more quadratic forms, all of one norm, their diagonals zero.
    plan : where to start.
    terms : what every plan keeps to.
    betas : the inverse temperatures, rising.
    updates : how often the plan is renewed at each of them.
    """
    potential = np.zeros(terms.m if terms.is_permutation else terms.m + 1, dtype=np.float32)
    before = betas[0]
    for beta in betas:
        potential *= np.float32(beta / before)
        before = beta
        for _ in range(updates):
            G = forms[0].profit(plan)
            for form in forms[1:]:
                G += form.profit(plan)
            G /= np.float32(max(G.max(), -G.min(), 1e-30))
            if terms.prior is not None:
                G += terms.prior
            G *= np.float32(beta)
            terms.bind(G)
            plan, potential = sinkhorn(G, potential, terms)
        yield plan


def last(plans: Iterator[Float32Array]) -> Float32Array:
    """Drain an annealing."""
    return deque(plans, maxlen=1).pop()


def finished(
    forms: Sequence[Form], plans: Sequence[Float32Array], terms: Terms, *, betas: Sequence[float], updates: int
) -> list[Float32Array]:
    """Anneal several plans to the end; the parameters are those of `raced`."""
    return [last(annealed(forms, plan, terms, betas=betas, updates=updates)) for plan in plans]


def raced(
    forms: Sequence[Form], plans: Sequence[Float32Array], terms: Terms, *, betas: Sequence[float], updates: int
) -> list[Float32Array]:
    """Anneal several plans; after half of the cooling only the better half of them goes on, but no fewer than four.

    By then the best plan of the end is among those of largest tr(K P L Pᵀ); earlier it need not be.

    Parameters
    ----------
    forms, terms, betas, updates : as in `annealed`.
    plans : where to start.
    """
    runs = [annealed(forms, plan, terms, betas=betas, updates=updates) for plan in plans]
    halfway = [last(islice(run, (len(betas) + 1) // 2)) for run in runs]
    values = [sum(float(np.vdot(form.profit(plan), plan)) for form in forms) for plan in halfway]
    better = np.argsort(values)[::-1][: max(4, (len(plans) + 1) // 2)]
    return [last(runs[k]) for k in better]


def exclude_self(K: Array) -> Array:
    """Return K without its diagonal: with it, every current pair votes for itself, G[i, p_i] ∋ K_ii·L[p_i, p_i].

    >>> exclude_self(np.eye(2) + 1.0)
    array([[0., 1.],
           [1., 0.]])
    """
    off = np.array(K)
    np.fill_diagonal(off, 0.0)
    return off


def anneal(measure: Quadratic, start: Indices, *, number: int = 0) -> Iterator[Step]:
    """Anneal a quadratic measure from a matching; yields the start, one rounded plan per temperature, and a climb.

    The diagonals of the prepared matrices are left out of the search (`exclude_self`) and kept in the values. The
    last steps climb the measure itself from the best matching found, so that what is returned is a local maximum.

    Parameters
    ----------
    measure : HSIC, NOCCO or any other Σ K∘L[p, p].
    start : indices of the first matching.
    number : which of several starts this is; it is copied into the steps.

    >>> from pairup.measures import HSIC
    >>> K = np.diag([1.0, 2.0, 3.0]) + 0.1; L = K[::-1, ::-1]
    >>> max(anneal(HSIC(K, L), np.array([0, 1, 2])), key=lambda step: step.value).indices
    array([2, 1, 0])
    """
    n = len(start)
    terms = Terms(n, n, n, NO_ANCHORS)
    form = Dense(exclude_self(measure.K).astype(np.float32), exclude_self(measure.L).astype(np.float32))
    value = measure.value(start)
    best = Step(number, 0, start, value)
    yield best
    for iteration, plan in enumerate(annealed([form], terms.start(start), terms, betas=COOLING), start=1):
        indices = terms.round(plan)
        value = measure.value(indices)
        step = Step(number, iteration, indices, value)
        best = max(best, step, key=lambda s: s.value)
        yield step
    for step in climb(measure, best.indices, number=number):
        if step.iteration:
            yield Step(number, len(COOLING) + step.iteration, step.indices, step.value)
