"""How likely an edge of one graph is, given two nodes of the other: log-odds, fitted to a matching.

Real noise is not uniform: edges appear between nodes that have neighbours in common. The log-odds of an edge between
the partners of two nodes are estimated for each class of pairs of nodes, linked or not, by the weight of the neighbours
they have in common, one over their degrees. Of a dozen such indices (their number, the same divided by degrees, paths
of three edges) this explained most edges at the matchings found of two yeast networks, the truth not seen: at 15 % more
edges the log-likelihood of those that came was -4,211 instead of -4,474 with the number of common neighbours, of those
that were there before -2,976 instead of -3,635. Half the sum over both directions is the energy that is sampled.
"""

from typing import Any

import numpy as np
from scipy import sparse

from pairup.types import Array, Float32Array, Indices

OCTAVES = (-8.0, 3.5)  # of the weights of common neighbours at which classes begin, beside 0
WIDTHS = (0.5, 2.0)  # of a class, in octaves, with many edges and with few
EDGES = 1200  # for classes an octave wide: 100 of each. With finer ones unrelated small graphs look alike
OFFSET = 1 + len(np.arange(*OCTAVES, WIDTHS[0]))  # where the classes of linked pairs begin
PSEUDO = 1.0  # pairs added to each class, with the share of edges of all linked or all other pairs


def classify_pairs(A: Any) -> Any:
    """Return the class of every pair of nodes.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        An undirected graph.

    Returns
    -------
    ndarray of int8, shape (n, n)
        The classes, by the weight of common neighbours, first of pairs that are not linked.

    Examples
    --------
    >>> classify_pairs(sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))[0]
    array([ 0, 24,  4], dtype=int8)
    """
    linked = (A != 0).astype(np.float64).tocsr()
    degrees = np.maximum(np.diff(linked.indptr), 1)
    weights = (linked @ sparse.diags_array(1.0 / degrees) @ linked).toarray()
    classes = np.searchsorted(list_steps(linked.nnz // 2) * (1.0 - 1e-9), weights, side="right").astype(np.int8)
    classes[(classes == 0) & (weights > 0)] = 1
    classes += np.int8(OFFSET) * linked.astype(np.int8).toarray()
    np.fill_diagonal(classes, 0)
    return classes


def list_steps(n_edges: int) -> Array:
    """Return the weights of common neighbours at which classes begin.

    Parameters
    ----------
    n_edges : int
        Number of edges of the graph.

    Returns
    -------
    ndarray
        Powers of two, the closer the more edges there are.

    Examples
    --------
    >>> len(list_steps(10_000)), len(list_steps(1200)), len(list_steps(10))
    (23, 12, 6)
    """
    width = np.clip(EDGES / max(n_edges, 1), *WIDTHS)
    steps: Array = 2.0 ** np.arange(*OCTAVES, width)
    return steps


def fit_log_odds(classes: Any, B: Array, p: Indices) -> tuple[Float32Array, Array]:
    """Return log-odds of an edge between the partners of every pair of nodes, less those of the commonest class.

    Parameters
    ----------
    classes : ndarray of int8, shape (n, n)
        Classes of the pairs of nodes of one graph.
    B : ndarray of shape (n, n)
        The other graph, 0 and 1.
    p : ndarray of int, shape (n,)
        The matching: node i of the first has the partner p_i.

    Returns
    -------
    scores : ndarray of float32, shape (n, n)
        The log-odds; 0 on the diagonal.
    log_odds : ndarray of shape (n_classes,)
        Those of each class.
    """
    pairs = np.bincount(classes.ravel(), minlength=2 * OFFSET).reshape(2, -1) / 2
    edges = np.bincount(classes.ravel(), weights=B[np.ix_(p, p)].ravel(), minlength=2 * OFFSET).reshape(2, -1) / 2
    of_all = (edges.sum(axis=1, keepdims=True) + 0.5) / (pairs.sum(axis=1, keepdims=True) + 1.0)
    of_all = np.minimum(of_all, 0.5)  # or graphs that lose no edge are never seen to lose one
    share = (edges + PSEUDO * of_all) / (pairs + PSEUDO)
    log_odds = np.log(share / (1.0 - share)).ravel()
    log_odds -= log_odds[0]
    scores = log_odds.astype(np.float32)[classes]
    np.fill_diagonal(scores, 0.0)
    return scores, log_odds
