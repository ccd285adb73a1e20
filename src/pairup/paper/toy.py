"""Figure 1: Y = X³, matched by KS-NOCCO, readings of LSOM and the default method."""

import numpy as np

import pairup
from pairup.datasets import make_cubic
from pairup.kernels import KernelFamily
from pairup.matchers import LSOM
from pairup.measures import NOCCO
from pairup.metrics import match_accuracy
from pairup.paper.protocol import ROOT_10, TOY_METHODS, Task
from pairup.paper.runner import Row
from pairup.starts import sort_match


def run(task: Task, data: str | None) -> Row:
    """Match one draw of the toy; score it against the truth and against its mirror image.

    Parameters
    ----------
    task : Task
        Its method is a key of TOY_METHODS.
    data : str or None
        Ignored: the data are synthetic.

    Returns
    -------
    result : dict
        The matching, its accuracy against both, and NOCCO at all three; of LSOM also its held-out scores.
    """
    X, Y, truth = make_cubic(task.n, random_state=task.seed)
    mirror = sort_match(X[:, 0], -Y[:, 0])
    name, parameters = TOY_METHODS[task.method]
    row: Row = {}
    if name == "match":
        indices = pairup.match(X, Y).indices
    else:
        matcher = getattr(pairup, name)(**parameters).fit(X, Y)
        indices = matcher.assignment_
        row = {
            "iterations": matcher.n_iter_,
            "values": [step.value for step in matcher.history_],
            "start": matcher.history_[0].indices.tolist(),
        }
        if isinstance(matcher, LSOM):
            row["score"] = matcher.best_score_
            row["score_truth"] = matcher.held_out_score(X, Y, truth)
    measure = NOCCO(KernelFamily(X).matrix(ROOT_10), KernelFamily(Y).matrix(ROOT_10))
    return row | {
        "accuracy": match_accuracy(indices, truth),
        "accuracy_mirror": match_accuracy(indices, mirror),
        "correlation": float(np.corrcoef(X[:, 0], np.cbrt(Y[indices, 0]))[0, 1]),
        "nocco": measure.value(indices),
        "nocco_truth": measure.value(truth),
        "nocco_mirror": measure.value(mirror),
        "indices": indices.tolist(),
    }
