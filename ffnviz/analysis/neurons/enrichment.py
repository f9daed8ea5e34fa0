"""On which tags a neuron fires more often than chance would have it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.neuron_index import NeuronIndex

LEVEL = 0.05


@dataclass(frozen=True)
class TagCount:
    """How often a neuron fired on the texts of one tag."""

    tag: str
    # fired, n: texts of that tag in which it fired, and all of them
    fired: int
    n: int
    share_elsewhere: float  # of the texts without the tag, those in which it fired, from 0 to 1
    p: float  # how likely so many or more are by chance (Fisher's exact test, one-sided)
    corrected: float  # the same, after Holm's correction for the number of tags

    @property
    def share(self) -> float:
        """Share of the tag's texts in which it fired, from 0 to 1."""
        return self.fired / max(self.n, 1)  # a file of blank lines is a tag without texts

    @property
    def beyond_chance(self) -> bool:
        """Whether chance is ruled out at LEVEL."""
        return self.corrected < LEVEL


def tag_counts(index: NeuronIndex, block: int, neuron: int, side: int = 1) -> list[TagCount]:
    """All tags for one neuron above zero, or for side −1 below, the least likely by chance first.

    On either side it writes the opposite of what it writes on the other: they are kept apart.
    """
    texts, tagged = index.by_number[block].sides[side]
    by_tag, fired = tagged[:, neuron], int(texts[neuron])  # (n_tags,)
    tails = [
        hypergeometric_tail(int(both), index.n_texts, int(n), fired)
        for both, n in zip(by_tag, index.with_tag, strict=True)
    ]
    corrected = holm(np.array(tails))
    counts = [
        TagCount(
            tag,
            int(both),
            int(n),
            (fired - int(both)) / max(index.n_texts - int(n), 1),
            tail,
            c,
        )
        for tag, both, n, tail, c in zip(
            index.tags, by_tag, index.with_tag, tails, corrected.tolist(), strict=True
        )
        if n
    ]
    return sorted(counts, key=lambda count: (count.p, -count.share, count.tag))


def hypergeometric_tail(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    """P(X ≥ both), if the n_fired were drawn blindly from n_all, of which n_tag have the tag.

    Fisher 1935, "The logic of inductive inference".
    """
    most = min(n_tag, n_fired)
    counts = np.arange(max(both, n_fired + n_tag - n_all), most + 1)
    logs = _log_factorials(n_all)
    log_p = (
        logs[n_tag] - logs[counts] - logs[n_tag - counts]
        + logs[n_all - n_tag] - logs[n_fired - counts] - logs[n_all - n_tag - n_fired + counts]
        - logs[n_all] + logs[n_fired] + logs[n_all - n_fired]
    )  # fmt: skip
    return float(min(1.0, np.exp(log_p).sum()))


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """p-values corrected for their number: at most a share p of families has a false one.

    Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    order = np.argsort(p, kind="stable")
    steps = p[order] * (len(p) - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def _log_factorials(n: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.log(np.arange(1, n + 1)).cumsum()])
