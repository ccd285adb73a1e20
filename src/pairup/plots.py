"""Pictures of results, as scikit-learn's Display objects: build one from a result, `plot` it, keep its artists."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pairup.climb import Step
from pairup.extras import require
from pairup.matchers import Matcher
from pairup.matching import Matching
from pairup.metrics import right_pairs
from pairup.mosaic import mosaic, side_by_side
from pairup.types import Array, BoolArray, Images
from pairup.validation import check_set

RIGHT, WRONG = "#1f77b4", "#e6007e"


class Display:
    """What all displays share: after `plot`, ``ax_`` and ``figure_`` are what was drawn on."""

    ax_: Any
    figure_: Any

    def _draw_on(self, ax: Any) -> Any:
        if ax is None:
            _, ax = require("matplotlib.pyplot", extra="plot").subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class MatchedPairsDisplay(Display):
    """Matched points: y against x where both have one column, else the two sets side by side with linked partners.

    Sets of more than two columns are shown by their first two principal components.

    Parameters
    ----------
    x, y : the two sets in their own order, one object per row.
    indices : their matching: ``y[indices]`` is aligned with ``x``; −1 where x has no partner.
    right : of each x, whether its partner is right, where that is known; wrong ones are drawn in magenta.
    function : the true y of x, drawn as a line where both have one column.

    >>> display = MatchedPairsDisplay(x=[[0.0], [1.0]], y=[[2.0], [3.0]], indices=[1, 0]).plot()
    >>> display.points_.get_offsets().tolist()
    [[0.0, 3.0], [1.0, 2.0]]
    """

    points_: Any
    links_: Any

    def __init__(
        self,
        *,
        x: ArrayLike,
        y: ArrayLike,
        indices: ArrayLike,
        right: ArrayLike | None = None,
        function: Callable[[Array], ArrayLike] | None = None,
    ) -> None:
        self.x = check_set(x, "X", at_least=1)
        self.y = check_set(y, "Y", at_least=1)
        self.indices = np.asarray(indices)
        self.right: BoolArray = np.ones(len(self.x), bool) if right is None else np.asarray(right, dtype=bool)
        self.function = function

    @classmethod
    def from_matching(
        cls,
        matching: Matching,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        truth: ArrayLike | None = None,
        function: Callable[[Array], ArrayLike] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what `pairup.match` returned for X and Y, and which pairs are right where `truth` is given."""
        return cls.from_indices(matching.indices, X, Y, truth=truth, function=function, ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Matcher,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        truth: ArrayLike | None = None,
        function: Callable[[Array], ArrayLike] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the matching of an estimator that was fitted to X and Y."""
        return cls.from_indices(estimator.assignment_, X, Y, truth=truth, function=function, ax=ax)

    @classmethod
    def from_indices(
        cls,
        indices: ArrayLike,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        truth: ArrayLike | None = None,
        function: Callable[[Array], ArrayLike] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw any matching of X and Y."""
        right = None if truth is None else right_pairs(indices, truth, Y)
        return cls(x=X, y=Y, indices=indices, right=right, function=function).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a figure of its own."""
        ax = self._draw_on(ax)
        if self.x.shape[1] == self.y.shape[1] == 1:
            self._plot_against(ax)
        else:
            self._plot_linked(ax)
        return self

    def _plot_against(self, ax: Any) -> None:
        matched = self.indices >= 0
        x, y = self.x[matched, 0], self.y[self.indices[matched], 0]
        if self.function is not None:
            line = np.linspace(x.min(), x.max(), 400)
            ax.plot(line, self.function(line), color="0.6", linewidth=1.5, zorder=1, label="true function")
        colours = np.where(self.right[matched], RIGHT, WRONG)
        self.points_ = ax.scatter(x, y, s=22, facecolors="none", edgecolors=colours, zorder=2)
        ax.set(xlabel="x", ylabel="y of its partner")

    def _plot_linked(self, ax: Any) -> None:
        collections = require("matplotlib.collections", extra="plot")
        x, y = _in_unit_square(self.x), _in_unit_square(self.y) + np.array([1.4, 0.0])
        matched = np.flatnonzero(self.indices >= 0)
        ends = np.stack([x[matched], y[self.indices[matched]]], axis=1)
        colours = np.where(self.right[matched], RIGHT, WRONG)
        self.links_ = ax.add_collection(collections.LineCollection(ends, colors=colours, linewidths=0.6, alpha=0.5))
        self.points_ = ax.scatter(*np.concatenate([x, y]).T, s=14, color="0.25", zorder=2)
        ax.set(xticks=[0.5, 1.9], xticklabels=["X", "Y"], yticks=[], aspect="equal")


def _in_unit_square(points: Array) -> Array:
    """Return points of any number of columns in the plane, in [0, 1]²; one column becomes an upright line."""
    if points.shape[1] > 2:
        from sklearn.decomposition import PCA

        points = PCA(2, svd_solver="full").fit_transform(points)
    if points.shape[1] == 1:
        points = np.hstack([np.full_like(points, 0.5), points])
    low, span = points.min(axis=0), np.ptp(points, axis=0).max() or 1.0
    middle: Array = (points - low - np.ptp(points, axis=0) / 2) / span + 0.5
    return middle


class MatchedImagesDisplay(Display):
    """Matched pictures side by side, the pairs in rows on one sheet; wrong ones, where that is known, framed.

    Parameters
    ----------
    sheet : the drawn pairs, as an RGB array.

    >>> half = np.zeros((6, 8, 4, 3), dtype=np.uint8)
    >>> MatchedImagesDisplay.from_indices(np.arange(6), half, half).sheet.shape
    (34, 48, 3)
    """

    image_: Any

    def __init__(self, *, sheet: Images) -> None:
        self.sheet = sheet

    @classmethod
    def from_matching(
        cls, matching: Matching, X: Images, Y: Images, *, truth: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Draw what `pairup.match` returned for the pictures X and Y, arrays (n, height, width[, 3]) of one height."""
        return cls.from_indices(matching.indices, X, Y, truth=truth, ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Matcher, X: Images, Y: Images, *, truth: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Draw the matching of an estimator that was fitted to the pictures X and Y."""
        return cls.from_indices(estimator.assignment_, X, Y, truth=truth, ax=ax)

    @classmethod
    def from_indices(
        cls, indices: ArrayLike, X: Images, Y: Images, *, truth: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Draw any matching of the pictures X and Y."""
        wrong = None if truth is None else ~right_pairs(indices, truth, Y)
        return cls(sheet=mosaic(side_by_side(X, Y, indices), marked=wrong)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a figure of its own."""
        ax = self._draw_on(ax)
        self.image_ = ax.imshow(self.sheet)
        ax.set_axis_off()
        return self


class ConvergenceDisplay(Display):
    """The measure of dependence against the iterations of the start that won.

    Parameters
    ----------
    values : the measure at the start and after each iteration.
    name : what the measure is called on the axis.

    >>> ConvergenceDisplay(values=[0.2, 0.7, 0.7], name="HSIC").plot().line_.get_xdata().tolist()
    [0, 1, 2]
    """

    line_: Any

    def __init__(self, *, values: ArrayLike, name: str = "dependence") -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.name = name

    @classmethod
    def from_matching(cls, matching: Matching, *, ax: Any = None) -> Self:
        """Draw the search behind what `pairup.match` returned."""
        return cls._from_history(matching.history, f"dependence ({matching.method})", ax)

    @classmethod
    def from_estimator(cls, estimator: Matcher, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw the search of a fitted estimator."""
        return cls._from_history(estimator.history_, name or f"dependence ({type(estimator).__name__})", ax)

    @classmethod
    def _from_history(cls, history: list[Step], name: str, ax: Any) -> Self:
        return cls(values=[step.value for step in history], name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a figure of its own."""
        ax = self._draw_on(ax)
        (self.line_,) = ax.plot(range(len(self.values)), self.values, marker="o", markersize=4, color=RIGHT)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="iteration", ylabel=self.name)
        return self


class MatchingDisplay(Display):
    """A matching on one page: its pairs, how sure they are, and what the candidates of the search agree on.

    After `plot`, ``axes_`` holds the three panels. In the last one every candidate stands for a matching that the
    search came by: a cloud at the upper right is one solution found again and again; a second cloud at the upper left
    is a rival.

    Parameters
    ----------
    pairs : the display of the matched points, or None where there are no tables to draw.
    confidence : probability of each pair.
    scores : of the candidates, the best 1.
    agreement : the share of pairs that each candidate has in common with the matching.
    title : the verdict.
    """

    axes_: Any

    def __init__(
        self,
        *,
        pairs: MatchedPairsDisplay | None,
        confidence: ArrayLike,
        scores: ArrayLike,
        agreement: ArrayLike,
        title: str,
    ) -> None:
        self.pairs = pairs
        self.confidence = np.asarray(confidence)
        self.scores = np.asarray(scores)
        self.agreement = np.asarray(agreement)
        self.title = title

    @classmethod
    def from_matching(cls, matching: Matching, *, ax: Any = None) -> Self:
        """Draw what `pairup.match` returned, on three axes where they are given."""
        steps = matching.history
        top = max((step.value for step in steps), default=1.0)
        if matching.reliable is None:
            title = matching.method
        else:
            verdict = "reliable" if matching.reliable else "not reliable"
            title = f"{verdict}: about {matching.reliability:.0%} of the pairs expected right"
        return cls(
            pairs=None
            if matching.sets is None
            else MatchedPairsDisplay(x=matching.sets[0], y=matching.sets[1], indices=matching.indices),
            confidence=matching.confidence,
            scores=[step.value / top for step in steps],
            agreement=[float((step.indices == matching.indices).mean()) for step in steps],
            title=title,
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on three axes, or on a figure of its own."""
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot")
            figure, ax = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
            figure.suptitle(self.title)
        self.axes_ = ax
        self.ax_, self.figure_ = ax[0], ax[0].figure
        if self.pairs is None:
            ax[0].set_axis_off()
        else:
            self.pairs.plot(ax[0])
        ax[1].hist(self.confidence, bins=np.linspace(0, 1, 21), color=RIGHT)
        ax[1].set(xlabel="confidence", ylabel="pairs", xlim=(0, 1))
        ax[2].scatter(self.agreement, self.scores, s=22, facecolors="none", edgecolors=RIGHT)
        ax[2].set(xlabel="pairs in common with the matching", ylabel="value of the candidate", xlim=(-0.02, 1.02))
        return self
