"""Pictures of results, as scikit-learn's Display objects: build one from a result, `plot` it, keep its artists."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pairup.climb import Step
from pairup.extras import require
from pairup.metrics import right_pairs
from pairup.mosaic import mosaic, side_by_side
from pairup.sampling import draw_rows
from pairup.types import Array, BoolArray, Images, Indices
from pairup.validation import check_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

MOST_DRAWN = 1000  # pairs; of more, a sample is drawn
UNLIKE = 10  # ratio of the spreads of columns from which on they are scaled one by one
RIGHT, WRONG = "#1f77b4", "#e6007e"


class MatchingResult(Protocol):
    """What is drawn of a result of `pairup.match`; named here so that results can import this module."""

    @property
    def indices(self) -> Indices:
        """The matching: Y[indices] is aligned with X."""

    @property
    def method(self) -> str:
        """Name of the method."""

    @property
    def history(self) -> Sequence[Step]:
        """Steps of the search, or its candidates."""

    @property
    def confidence(self) -> Array:
        """Probability of each pair."""

    @property
    def sets(self) -> tuple[Array, Array] | None:
        """The two tables, where there are any."""

    @property
    def verdict(self) -> str:
        """What is known of the matching, in one line."""

    @property
    def reliable(self) -> bool | None:
        """Whether the data determine the matching, where that is known."""

    @property
    def reliability(self) -> float | None:
        """Expected share of right pairs, where that is known."""


class FittedMatcher(Protocol):
    """What is drawn of a fitted estimator such as `pairup.KSHSIC`."""

    @property
    def assignment_(self) -> Indices:
        """The matching: Y[assignment_] is aligned with X."""

    @property
    def history_(self) -> Sequence[Step]:
        """Steps of the best start."""


Result: TypeAlias = MatchingResult | FittedMatcher
"""What `pairup.match` returned, or a fitted estimator."""


def _attribute(result: Any, *names: str) -> Any:
    """Return the first of some attributes that an object has, or None."""
    return next((getattr(result, name) for name in names if hasattr(result, name)), None)


def _indices(result: Any) -> Indices:
    """Return the matching of a result, or an array of indices as it is."""
    found = _attribute(result, "indices", "assignment_")
    indices = np.asarray(result if found is None else found)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise TypeError(
            "expected what pairup.match returned, a fitted estimator or an array of indices, got "
            f"{type(result).__name__}; an estimator must be fitted first"
        )
    return indices


class Display:
    """What all displays share.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on, after `plot`.
    figure_ : matplotlib Figure
        Its figure.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    def _draw_on(self, ax: "Axes | None") -> "Axes":
        """Return the axes to draw on, those of a new figure if None, and keep them."""
        if ax is None:
            _, ax = require("matplotlib.pyplot", extra="plot").subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class MatchedPairsDisplay(Display):
    """Matched points: y against x where both have one column, else the two sets side by side with linked partners.

    Sets of more than two columns are shown by their first two principal components. Columns of unlike units, whose
    spreads differ by more than a factor of ten, are standardized first. Partners have one colour, unless it is known
    which are right. Of more than 1,000 objects a sample is drawn, and its size told.

    Parameters
    ----------
    x : array_like of shape (n, d)
        The first set, one object per row.
    y : array_like of shape (m, e)
        The second set in its own order, one object per row.
    indices : array_like of shape (n,)
        The matching: ``y[indices]`` is aligned with ``x``; −1 where an x has no partner.
    right : array_like of bool, shape (n,), optional
        Whether the partner of each x is right, where that is known; wrong ones are drawn in magenta.
    function : callable, optional
        The true y of x, drawn as a line where both have one column.

    Attributes
    ----------
    points_ : matplotlib PathCollection
        The drawn points.
    links_ : matplotlib LineCollection
        The lines between partners, where the sets are drawn side by side.
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> display = MatchedPairsDisplay(x=[[0.0], [1.0]], y=[[2.0], [3.0]], indices=[1, 0]).plot()
    >>> display.points_.get_offsets().tolist()
    [[0.0, 3.0], [1.0, 2.0]]
    """

    points_: "PathCollection"
    links_: "LineCollection"

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
        self.is_known = right is not None
        self.right: BoolArray = np.ones(len(self.x), bool) if right is None else np.asarray(right, dtype=bool)
        self.function = function

    @classmethod
    def from_result(
        cls,
        result: Result | ArrayLike,
        X: ArrayLike,
        Y: ArrayLike,
        *,
        truth: ArrayLike | None = None,
        function: Callable[[Array], ArrayLike] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a matching of X and Y.

        `from_matching`, `from_estimator` and `from_indices` are other names of this constructor.

        Parameters
        ----------
        result : Matching, fitted estimator or array_like of shape (n,)
            What `pairup.match` returned for X and Y, an estimator fitted to them, or the indices of any matching.
        X : array_like of shape (n, d)
            The first set, one object per row.
        Y : array_like of shape (m, e)
            The second set, one object per row.
        truth : array_like of shape (n,), optional
            The true matching; if given, wrong pairs are drawn in magenta.
        function : callable, optional
            The true y of x, drawn as a line where both have one column.
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchedPairsDisplay
            The drawn display.
        """
        indices = _indices(result)
        right = None if truth is None else right_pairs(indices, truth, Y)
        return cls(x=X, y=Y, indices=indices, right=right, function=function).plot(ax)

    from_matching = from_estimator = from_indices = from_result

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the matched points.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchedPairsDisplay
            The display itself.
        """
        ax = self._draw_on(ax)
        shown = self._sample()
        if self.x.shape[1] == self.y.shape[1] == 1:
            shown._plot_against(ax)
        else:
            shown._plot_linked(ax)
            self.links_ = shown.links_
        self.points_ = shown.points_
        if shown is not self:
            pairs, all_pairs = (int((each.indices >= 0).sum()) for each in (shown, self))
            ax.set_title(f"{pairs:,} of {all_pairs:,} pairs drawn", fontsize="medium")
        return self

    def _sample(self) -> "MatchedPairsDisplay":
        """Return a display of some of the objects with their partners; itself where they are few."""
        n, m = len(self.x), len(self.y)
        if max(n, m) <= MOST_DRAWN:
            return self
        rows = draw_rows(n, MOST_DRAWN)
        matched = self.indices[rows] >= 0
        partners = self.indices[rows[matched]]
        alone = np.setdiff1d(np.arange(m), self.indices)
        left = alone[draw_rows(len(alone), round(len(alone) * MOST_DRAWN / max(n, m)))]
        indices = np.full(len(rows), -1)
        indices[matched] = np.arange(len(partners))
        shown = MatchedPairsDisplay(
            x=self.x[rows], y=self.y[np.concatenate([partners, left])], indices=indices, function=self.function
        )
        shown.right, shown.is_known = self.right[rows], self.is_known
        return shown

    def _plot_against(self, ax: "Axes") -> None:
        """Draw y against x."""
        matched = self.indices >= 0
        x, y = self.x[matched, 0], self.y[self.indices[matched], 0]
        if self.function is not None:
            line = np.linspace(x.min(), x.max(), 400)
            ax.plot(line, self.function(line), color="0.6", linewidth=1.5, zorder=1, label="true function")
        colours = np.where(self.right[matched], RIGHT, WRONG).tolist()
        self.points_ = ax.scatter(x, y, s=22, facecolors="none", edgecolors=colours, zorder=2)
        ax.set(xlabel="x", ylabel="y of its partner")

    def _plot_linked(self, ax: "Axes") -> None:
        """Draw both sets side by side with lines between partners."""
        collections = require("matplotlib.collections", extra="plot")
        x, y = _in_unit_square(self.x), _in_unit_square(self.y) + np.array([1.4, 0.0])
        matched = np.flatnonzero(self.indices >= 0)
        ends = np.stack([x[matched], y[self.indices[matched]]], axis=1)
        places = np.concatenate([x, y])
        marks = np.full(len(places), "0.25", dtype=object)
        colours: Any = np.where(self.right[matched], RIGHT, WRONG)
        if not self.is_known:  # partners have one colour, from the bottom of X to its top
            shades = require("matplotlib", extra="plot").colormaps["turbo"](np.linspace(0.05, 0.95, len(matched)))
            colours = shades[x[matched, 1].argsort().argsort()]
            for one, other, colour in zip(matched, self.indices[matched], colours, strict=True):
                marks[one] = marks[len(x) + other] = tuple(colour)
        self.links_ = collections.LineCollection(ends, colors=colours, linewidths=0.6, alpha=0.35)
        ax.add_collection(self.links_)
        self.points_ = ax.scatter(places[:, 0], places[:, 1], s=14, color=marks.tolist(), zorder=2)
        ax.set(xticks=[0.5, 1.9], xticklabels=["X", "Y"], yticks=[], aspect="equal")


def _in_unit_square(points: Array) -> Array:
    """Return points of any number of columns in the plane, in [0, 1]²; one column becomes an upright line.

    Columns whose spreads differ widely, such as age and income, are no coordinates of one space: each is then scaled by
    itself, or the largest would leave nothing of the others.
    """
    spreads = np.ptp(points, axis=0)
    used = spreads > 0
    if used.sum() > 1 and spreads[used].max() > UNLIKE * spreads[used].min():
        points = (points - points.mean(axis=0)) / np.where(used, points.std(axis=0), 1.0)
        if points.shape[1] == 2:
            points = (points - points.min(axis=0)) / np.where(used, np.ptp(points, axis=0), 1.0)
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
    sheet : ndarray of uint8, shape (height, width, 3)
        The drawn pairs in RGB.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The drawn sheet.
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> half = np.zeros((6, 8, 4, 3), dtype=np.uint8)
    >>> MatchedImagesDisplay.from_indices(np.arange(6), half, half).sheet.shape
    (34, 48, 3)
    """

    image_: "AxesImage"

    def __init__(self, *, sheet: Images) -> None:
        self.sheet = sheet

    @classmethod
    def from_result(
        cls,
        result: Result | ArrayLike,
        X: Images,
        Y: Images,
        *,
        truth: ArrayLike | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a matching of the pictures X and Y.

        `from_matching`, `from_estimator` and `from_indices` are other names of this constructor.

        Parameters
        ----------
        result : Matching, fitted estimator or array_like of shape (n,)
            What `pairup.match` returned for the pictures, an estimator fitted to them, or the indices of any matching.
        X : ndarray of shape (n, height, width[, 3])
            The left pictures.
        Y : ndarray of shape (m, height, width[, 3])
            The right pictures, of the same height.
        truth : array_like of shape (n,), optional
            The true matching; if given, wrong pairs are framed.
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchedImagesDisplay
            The drawn display.
        """
        indices = _indices(result)
        wrong = None if truth is None else ~right_pairs(indices, truth, Y)
        return cls(sheet=mosaic(side_by_side(X, Y, indices), marked=wrong)).plot(ax)

    from_matching = from_estimator = from_indices = from_result

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the sheet.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchedImagesDisplay
            The display itself.
        """
        ax = self._draw_on(ax)
        self.image_ = ax.imshow(self.sheet)
        ax.set_axis_off()
        return self


def last_climb(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps since the measure last changed: values of LSMI at different widths are not comparable.

    Parameters
    ----------
    steps : sequence of Step
        Steps of one search. Where a climb ends and another goes on from there, the number of assignments stays.

    Returns
    -------
    sequence of Step
        The steps of the last climb.

    Examples
    --------
    >>> steps = [Step(0, iteration, np.array([0]), value) for iteration, value in ((0, 1.0), (1, 1.2), (1, 3.0))]
    >>> [step.value for step in last_climb(steps)]
    [3.0]
    """
    begins = [k for k in range(1, len(steps)) if steps[k].iteration <= steps[k - 1].iteration]
    return steps[begins[-1] :] if begins else steps


class ConvergenceDisplay(Display):
    """The measure of dependence against the iterations of the best start; of LSOM, at the last of its widths.

    Parameters
    ----------
    values : array_like of shape (iterations + 1,)
        The measure at the start and after each iteration.
    name : str, default "dependence"
        Name of the measure on the axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The drawn line.
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> ConvergenceDisplay(values=[0.2, 0.7, 0.7], name="HSIC").plot().line_.get_xdata().tolist()
    [0, 1, 2]
    """

    line_: "Line2D"

    def __init__(self, *, values: ArrayLike, name: str = "dependence") -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.name = name

    @classmethod
    def from_result(cls, result: Result, *, name: str | None = None, ax: "Axes | None" = None) -> Self:
        """Draw the search behind a result.

        `from_matching` and `from_estimator` are other names of this constructor.

        Parameters
        ----------
        result : Matching or fitted estimator
            What `pairup.match` returned, or an estimator after `fit`.
        name : str, optional
            Name of the measure on the axis; None takes that of the method.
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        ConvergenceDisplay
            The drawn display.
        """
        steps = _attribute(result, "history", "history_")
        if steps is None:
            raise TypeError(
                "expected what pairup.match returned or a fitted estimator, got "
                f"{type(result).__name__}; an estimator must be fitted first"
            )
        method = _attribute(result, "method") or type(result).__name__
        values = [step.value for step in last_climb(steps)]
        return cls(values=values, name=name or f"dependence ({method})").plot(ax)

    from_matching = from_estimator = from_result

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the values.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        ax = self._draw_on(ax)
        (self.line_,) = ax.plot(range(len(self.values)), self.values, marker="o", markersize=4, color=RIGHT)
        ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="iteration", ylabel=self.name)
        return self


class MatchingDisplay(Display):
    """A matching in three panels: its pairs, their confidence, and the candidates of the search.

    In the last panel each point is a candidate matching of the search. Points at the upper right are one solution,
    found repeatedly; points at the upper left are a different solution of nearly the same score.

    Parameters
    ----------
    pairs : MatchedPairsDisplay or None
        The display of the matched points; None where there are no tables to draw.
    confidence : array_like of shape (n,)
        Probability of each pair.
    scores : array_like of shape (candidates,)
        Score of each candidate; that of the best is 1.
    agreement : array_like of shape (candidates,)
        Share of pairs that each candidate has in common with the matching.
    title : str
        Title of the figure.

    Attributes
    ----------
    axes_ : sequence of three matplotlib Axes
        The panels.
    ax_ : matplotlib Axes
        The first panel.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> display = MatchingDisplay(pairs=None, confidence=[0.9, 0.8], scores=[1.0], agreement=[1.0], title="auto").plot()
    >>> len(display.axes_)
    3
    """

    axes_: "Sequence[Axes]"

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
    def from_matching(cls, matching: MatchingResult, *, ax: "Sequence[Axes] | None" = None) -> Self:
        """Draw what `pairup.match` returned.

        Parameters
        ----------
        matching : Matching
            The result.
        ax : sequence of three matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchingDisplay
            The drawn display.
        """
        steps = matching.history
        top = max((step.value for step in steps), default=1.0)
        if matching.reliability is None:
            title = f"{matching.method}: {matching.verdict}"
        else:
            verdict = "reliable" if matching.reliable else "not reliable"
            title = f"{verdict}: about {matching.reliability:.0%} of the pairs are expected to be right"
        return cls(
            pairs=None
            if matching.sets is None
            else MatchedPairsDisplay(x=matching.sets[0], y=matching.sets[1], indices=matching.indices),
            confidence=matching.confidence,
            scores=[step.value / top for step in steps],
            agreement=[float((step.indices == matching.indices).mean()) for step in steps],
            title=title,
        ).plot(ax)

    def plot(self, ax: "Sequence[Axes] | None" = None) -> Self:
        """Draw the three panels.

        Parameters
        ----------
        ax : sequence of three matplotlib Axes, optional
            Axes to draw on; None makes a figure.

        Returns
        -------
        MatchingDisplay
            The display itself.
        """
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot")
            figure, ax = pyplot.subplots(1, 3, figsize=(14, 4), width_ratios=[1.8, 1, 1], layout="constrained")
            figure.suptitle(self.title)
        assert ax is not None
        self.axes_ = ax
        self.ax_, self.figure_ = ax[0], ax[0].figure
        if self.pairs is None:
            ax[0].set_axis_off()
        else:
            self.pairs.plot(ax[0])
        ax[1].hist(self.confidence[self.confidence > 0], bins=np.linspace(0, 1, 21).tolist(), color=RIGHT)
        ax[1].set(xlabel="confidence", ylabel="pairs", xlim=(0, 1))
        ax[2].scatter(self.agreement, self.scores, s=22, facecolors="none", edgecolors=RIGHT)
        ax[2].set(xlabel="pairs in common with the matching", ylabel="score of the candidate", xlim=(-0.02, 1.02))
        return self
