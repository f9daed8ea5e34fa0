"""Tags on which a neuron fires more often than by chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.neuron_index import NeuronIndex

LEVEL = 0.05


@dataclass(frozen=True)
class TagCount:
    """How often a neuron fired on the texts of one tag."""

    tag: str
    fired: int  # texts with the tag in which it fired
    n: int  # texts with the tag
    share_elsewhere: float  # share of the other texts in which it fired, from 0 to 1
    p: float  # of so many or more by chance (Fisher's exact test, one-sided)
    corrected: float  # p after Holm's correction for the number of tags

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

    The sides are kept apart: on one, a neuron writes the opposite of what it writes on the other.
    """
    texts, by_tag = index.by_number[block].sides[side]
    fired, n_texts = int(texts[neuron]), index.n_texts
    tags = list(zip(index.tags, by_tag[:, neuron].tolist(), index.with_tag.tolist(), strict=True))
    tails = [hypergeometric_tail(both, n_texts, n, fired) for _, both, n in tags]
    counts = [
        TagCount(tag, both, n, (fired - both) / max(n_texts - n, 1), p, corrected)
        for (tag, both, n), p, corrected in zip(
            tags, tails, holm(np.array(tails)).tolist(), strict=True
        )
        if n
    ]
    return sorted(counts, key=lambda count: (count.p, -count.share, count.tag))


def hypergeometric_tail(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    """P(X ≥ both), if n_fired were drawn at random from n_all, of which n_tag have the tag.

    Fisher 1935, "The logic of inductive inference".
    """
    most = min(n_tag, n_fired)
    counts = np.arange(max(both, n_fired + n_tag - n_all), most + 1)
    logs = np.concatenate([[0.0], np.log(np.arange(1, n_all + 1)).cumsum()])  # of factorials
    log_p = (
        logs[n_tag] - logs[counts] - logs[n_tag - counts]
        + logs[n_all - n_tag] - logs[n_fired - counts] - logs[n_all - n_tag - n_fired + counts]
        - logs[n_all] + logs[n_fired] + logs[n_all - n_fired]
    )  # fmt: skip
    return float(min(1.0, np.exp(log_p).sum()))


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correct p-values for their number: a family has a false one with probability p at most.

    Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    order = np.argsort(p, kind="stable")
    steps = p[order] * (len(p) - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected
