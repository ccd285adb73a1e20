"""Comparison of methods on common runs: means, standard deviations and paired t-tests."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pairup.paper.document import Table
from pairup.paper.runner import Row

Samples = dict[tuple[str, int], dict[int, float]]  # (method, n) -> run -> value


def group_results(rows: Iterable[Row], name: str) -> Samples:
    """Group one result of many rows by method and size.

    Parameters
    ----------
    rows : iterable of dict
        Rows of runs.
    name : str
        Name of the result, such as "accuracy".

    Returns
    -------
    samples : dict
        (method, n) → {number of the run: value}.

    Examples
    --------
    >>> group_results([{"method": "LSOM", "n": 40, "run": 3, "result": {"accuracy": 0.5}}], "accuracy")
    {('LSOM', 40): {3: 0.5}}
    """
    grouped: Samples = defaultdict(dict)
    for row in rows:
        grouped[row["method"], row["n"]][row["run"]] = row["result"][name]
    return dict(grouped)


def find_comparable(
    values: Mapping[str, Mapping[int, float]], *, smaller_is_better: bool, level: float = 0.01
) -> set[str]:
    """Return the best method and the methods that do not differ from it significantly in a paired t-test.

    Only runs that all methods share are compared.

    Parameters
    ----------
    values : mapping
        Method → {number of the run: value}.
    smaller_is_better : bool
        True for errors, False for accuracies.
    level : float, default 0.01
        Significance level of the test.

    Returns
    -------
    methods : set of str
        Empty if fewer than three runs are shared: then there is no test.

    Examples
    --------
    >>> runs = range(20)
    >>> values = {"a": {k: 1 + k % 3 for k in runs}, "b": {k: 1 + k % 2 for k in runs}, "c": {k: 9 for k in runs}}
    >>> sorted(find_comparable(values, smaller_is_better=True))
    ['a', 'b']
    """
    from scipy.stats import ttest_1samp

    shared = sorted(set.intersection(*(set(runs) for runs in values.values()))) if values else []
    if len(shared) < 3:
        return set()
    arrays = {method: np.array([runs[k] for k in shared]) for method, runs in values.items()}
    order = sorted(arrays, key=lambda method: arrays[method].mean(), reverse=not smaller_is_better)
    best = arrays[order[0]]
    same = {order[0]}
    for method in order[1:]:
        gap = arrays[method] - best
        if np.ptp(gap) < 1e-12 * np.abs(best).max():  # a constant gap leaves nothing to test
            differs = bool(abs(gap[0]) > 1e-12 * np.abs(best).max())
        else:
            differs = float(ttest_1samp(gap, 0.0).pvalue) < level  # the paired t-test
        if not differs:
            same.add(method)
    return same


def tabulate(grouped: Samples, methods: Sequence[str], *, smaller_is_better: bool, digits: int = 3) -> Table:
    """Tabulate mean ± standard deviation of every method and size; ∘ marks the best and those comparable to it.

    Parameters
    ----------
    grouped : dict
        What `group_results` returns.
    methods : sequence of str
        The methods, in the order of their lines.
    smaller_is_better : bool
        True for errors, False for accuracies.
    digits : int, default 3
        Decimals.

    Returns
    -------
    table : Table
        One line per method, one column per size.

    Examples
    --------
    >>> tabulate({("LSOM", 40): {0: 0.5, 1: 0.7}}, ["LSOM"], smaller_is_better=False).rows
    [['LSOM', '0.600 ± 0.141']]
    """
    sizes = sorted({n for _, n in grouped})
    table = Table(["method", *(f"n = {n}" for n in sizes)], [])
    marked = {
        n: find_comparable(
            {method: grouped[method, n] for method in methods if (method, n) in grouped},
            smaller_is_better=smaller_is_better,
        )
        for n in sizes
    }
    for method in methods:
        cells = []
        for n in sizes:
            values = list(grouped.get((method, n), {}).values())
            if not values:
                cells.append("")
                continue
            spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.{digits}f}{spread}{' ∘' if method in marked[n] else ''}")
        table.rows.append([method, *cells])
    return table
