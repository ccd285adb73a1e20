"""How likely an edge of one graph is, given two nodes of the other: log-odds, fitted to a matching.

Real noise is not uniform: edges appear between nodes that have neighbours in common. The log-odds of an edge between
the partners of two nodes are estimated for each class of pairs of nodes, linked or not, by how many neighbours they
have in common. Half the sum over both directions is the energy that is sampled.
"""

from typing import Any

import numpy as np

from pairup.types import Array, Float32Array, Indices

COMMON = (0, 1, 2, 4, 8, 16)  # numbers of common neighbours at which classes begin
PSEUDO = 0.5  # added to both counts of a class (Jeffreys)


def classify_pairs(A: Any) -> Any:
    """Return the class of every pair of nodes.

    Parameters
    ----------
    A : scipy.sparse.csr_array of shape (n, n)
        An undirected graph.

    Returns
    -------
    ndarray of int8, shape (n, n)
        The classes, by number of common neighbours, first of pairs that are not linked.

    Examples
    --------
    >>> from scipy import sparse
    >>> classify_pairs(sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])))[0]
    array([1, 6, 1], dtype=int8)
    """
    linked = (A != 0).astype(np.float64).tocsr()
    common = np.digitize((linked @ linked).toarray(), COMMON) - 1
    return (common + len(COMMON) * linked.toarray()).astype(np.int8)


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
    size = 2 * len(COMMON)
    pairs = np.bincount(classes.ravel(), minlength=size) / 2
    edges = np.bincount(classes.ravel(), weights=B[np.ix_(p, p)].ravel(), minlength=size) / 2
    log_odds = np.log((edges + PSEUDO) / (np.maximum(pairs - edges, 0.0) + PSEUDO))
    log_odds -= log_odds[0]
    scores = log_odds.astype(np.float32)[classes]
    np.fill_diagonal(scores, 0.0)
    return scores, log_odds
