"""Methods compared on common runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pairup.paper.document import Table
from pairup.paper.runner import Row

Samples = dict[tuple[str, int], dict[int, float]]  # (method, n) -> run -> value


def samples(rows: Iterable[Row], name: str) -> Samples:
    """Group one result of many rows by method and size."""
    grouped: Samples = defaultdict(dict)
    for row in rows:
        grouped[row["method"], row["n"]][row["run"]] = row["result"][name]
    return dict(grouped)


def comparable(values: Mapping[str, Mapping[int, float]], *, smaller_is_better: bool, level: float = 0.01) -> set[str]:
    """Return the best method and those that a paired t-test at the given level does not tell from it.

    Only runs that all methods share are compared; with fewer than three there is no test, and none is marked.

    >>> runs = range(20)
    >>> values = {"a": {k: 1 + k % 3 for k in runs}, "b": {k: 1 + k % 2 for k in runs}, "c": {k: 9 for k in runs}}
    >>> sorted(comparable(values, smaller_is_better=True))
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
            told_apart = bool(abs(gap[0]) > 1e-12 * np.abs(best).max())
        else:
            told_apart = float(ttest_1samp(gap, 0.0).pvalue) < level  # the paired t-test
        if not told_apart:
            same.add(method)
    return same


def results_table(grouped: Samples, methods: Sequence[str], *, smaller_is_better: bool, digits: int = 3) -> Table:
    """Return mean ± standard deviation of each method and size; ∘ marks the best and those comparable with it."""
    sizes = sorted({n for _, n in grouped})
    table = Table(["method", *(f"n = {n}" for n in sizes)], [])
    marked = {
        n: comparable(
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
