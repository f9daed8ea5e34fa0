"""From logits to a word: temperature, top-k, top-p, and picking by argmax or by chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALLEST_TEMPERATURE = 0.05


@dataclass(frozen=True)
class Strategy:
    """How a word is chosen.

    Raises:
        ValueError: on a value outside what is allowed.
    """

    temperature: float = 1.0  # the logits are divided by it, above 0
    top_k: int = 0  # only the k likeliest entries stay; 0 keeps all
    top_p: float = 1.0  # only the likeliest entries that together reach p stay; 1 keeps all
    sample: bool = False  # pick by chance instead of the likeliest
    seed: int = 0  # of the sampling

    def __post_init__(self) -> None:
        if not SMALLEST_TEMPERATURE <= self.temperature <= 100:
            raise ValueError(
                f"The temperature {self.temperature} is not from {SMALLEST_TEMPERATURE} to 100."
            )
        if self.top_k < 0:
            raise ValueError(f"top_k = {self.top_k}: it must be 0 (all) or more.")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p = {self.top_p}: it must be above 0 and at most 1.")


@dataclass(frozen=True)
class Distribution:
    """A softmax over the vocabulary, and what a strategy leaves of it."""

    order: NDArray[np.int64]  # ids, the likeliest first, (vocab_size,)
    softmax: NDArray[np.float64]  # softmax(logits / temperature) by id, (vocab_size,)
    n_kept: int  # how many entries stay
    cut: NDArray[np.float64]  # the softmax after the cut, summing to 1 again, (vocab_size,)

    @property
    def kept_share(self) -> float:
        """The probability that the kept entries had together before the cut, from 0 to 1."""
        return float(self.softmax[self.order[: self.n_kept]].sum())


def distribution(
    logits: NDArray[np.floating], strategy: Strategy, never: NDArray[np.bool_] | None = None
) -> Distribution:
    """softmax(logits / temperature), cut to the top k and then to the top p.

    Vaswani et al. 2017, section 3.4; top-k: Fan et al. 2018; top-p: Holtzman et al. 2020, eq. 3.

    Args:
        logits: one score an entry, (vocab_size,).
        strategy: what to divide by and where to cut.
        never: entries that may not be chosen; their probability is 0.
    """
    scaled = logits.astype(np.float64) / strategy.temperature
    if never is not None:
        scaled = np.where(never, -np.inf, scaled)
    exponentials = np.exp(scaled - scaled.max())
    softmax = exponentials / exponentials.sum()
    order = np.argsort(-softmax, kind="stable")
    ranked = softmax[order]
    n_kept = strategy.top_k or len(order)
    if strategy.top_p < 1:
        reached = ranked[:n_kept].cumsum() / ranked[:n_kept].sum()
        n_kept = int(np.searchsorted(reached, strategy.top_p)) + 1
    kept = order[:n_kept]
    cut = np.zeros_like(softmax)
    cut[kept] = softmax[kept] / softmax[kept].sum()
    return Distribution(order, softmax, len(kept), cut)


def entropy(probabilities: NDArray[np.floating]) -> float:
    """−Σ p log₂ p, in bits (Shannon 1948)."""
    positive = probabilities[probabilities > 0].astype(np.float64)
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def pick(choices: Distribution, strategy: Strategy, step: int = 0) -> int:
    """The id that a strategy picks; the same seed and step always pick the same."""
    if not strategy.sample:
        return int(choices.order[0])
    chance = np.random.default_rng([strategy.seed, step]).random()
    kept = choices.order[: choices.n_kept]
    place = int(np.searchsorted(choices.cut[kept].cumsum(), chance, side="right"))
    return int(kept[min(place, len(kept) - 1)])
