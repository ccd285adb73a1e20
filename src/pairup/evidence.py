"""Evidence for a matching: how dependent its pairs are, beside shuffled pairs and unrelated sets."""

from dataclasses import dataclass

MARGIN = 1.15  # how far a score must exceed that of unrelated sets to be called more than chance
DOUBT = "Do not rely on this matching: "  # the last line of a report begins with it where there are doubts


@dataclass(frozen=True)
class Evidence:
    """Held-out scores of a matching and of what chance makes.

    A score is the least-squares mutual information of pairs that are left out of the fit one at a time, with the best
    of three Gaussian kernels: 0 or less for independent pairs.

    Parameters
    ----------
    found : float
        Of the matching.
    shuffled : float
        Of random pairs of the same sets, on average.
    unrelated : float
        The largest of what the same search and KS-NOCCO find in unrelated sets.
    draws : int
        How many unrelated sets there were.
    sortable : bool, default False
        Whether both sets have one dimension, so that they can be sorted against each other, related or not.

    Examples
    --------
    >>> print(Evidence(6.1, -0.09, 4.13, draws=3))
    Held-out score 6.10 (shuffled pairs: -0.09; largest of 3 unrelated sets: 4.13).
    More dependent than unrelated sets of the same variances. Clusters or curves in both sets are enough for that, and \
it does not say how many pairs are right; method='auto' estimates that.
    """

    found: float
    shuffled: float
    unrelated: float
    draws: int
    sortable: bool = False

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the pairs are clearly more dependent than unrelated sets can be made.

        Examples
        --------
        >>> Evidence(6.1, -0.09, 4.13, draws=3).is_beyond_chance, Evidence(4.2, -0.09, 4.13, draws=3).is_beyond_chance
        (True, False)
        """
        return self.found - self.shuffled > MARGIN * (self.unrelated - self.shuffled)

    @property
    def verdict(self) -> str:
        """What the scores allow to say, in one line; empty where they leave doubts.

        Examples
        --------
        >>> Evidence(6.1, -0.09, 4.13, draws=3).verdict
        'more dependent than unrelated sets (6.10 against 4.13), share of right pairs unknown'
        """
        if not self.is_beyond_chance:
            return ""
        return f"more dependent than unrelated sets ({self.found:.2f} against {self.unrelated:.2f}), " + (
            "share of right pairs unknown"
        )

    def __str__(self) -> str:
        sets = f"largest of {self.draws} unrelated sets" if self.draws > 1 else "an unrelated set"
        scores = f"Held-out score {self.found:.2f} (shuffled pairs: {self.shuffled:.2f}; {sets}: {self.unrelated:.2f})."
        if self.is_beyond_chance:
            conclusion = (
                "More dependent than unrelated sets of the same variances. Clusters or curves in both sets are enough "
                "for that, and it does not say how many pairs are right; method='auto' estimates that."
            )
        elif self.sortable:
            conclusion = f"{DOUBT}any two sets of one dimension can be sorted against each other, related or not."
        else:
            conclusion = f"{DOUBT}the pairs are hardly more dependent than those found in unrelated sets."
        return f"{scores}\n{conclusion}"
