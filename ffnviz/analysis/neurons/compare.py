"""Two sentences side by side: which tokens correspond, and which neurons differ on them."""

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class Comparison:
    """One block's hidden values on the pairs of tokens."""

    pairs: NDArray[np.int64]  # token of the first sentence, token of the second; (n_pairs, 2)
    neurons: NDArray[np.int64]  # those that differ most on any pair, the most different first, (k,)
    # first, second: their hidden values on the pairs, (n_pairs, k)
    first: NDArray[np.float32]
    second: NDArray[np.float32]

    @property
    def difference(self) -> NDArray[np.float32]:
        """Second minus first, (n_pairs, k)."""
        return self.second - self.first


def pairs(first: list[int], second: list[int]) -> NDArray[np.int64]:
    """The tokens that correspond, by their ids: equal ones, and those put in place of others.

    Where more tokens stand on one side than on the other, those left over have no partner.
    """
    matcher = SequenceMatcher(a=first, b=second, autojunk=False)
    places = [
        (a + step, b + step)
        for what, a, a_end, b, b_end in matcher.get_opcodes()
        if what in ("equal", "replace")
        for step in range(min(a_end - a, b_end - b))
    ]
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def compare(
    first: ForwardPass, second: ForwardPass, block: int, k: int = 20, pair: int | None = None
) -> Comparison:
    """The k neurons of a block that differ most between two sentences.

    Args:
        first: the trace of one sentence.
        second: of the other, by the same model.
        block: from 0.
        k: how many neurons.
        pair: rank them by this pair of tokens only, by its place in `pairs`.
    """
    matched = pairs(first.ids.tolist(), second.ids.tolist())
    a = first.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 0]]  # (n_pairs, d_ff)
    b = second.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 1]]
    if not len(matched):
        nothing = np.zeros((0, 0), np.float32)
        return Comparison(matched, np.zeros(0, np.int64), nothing, nothing)
    apart = np.abs(b - a)
    ranked_by = apart.max(axis=0) if pair is None else apart[pair]
    neurons = np.argsort(-ranked_by, kind="stable")[:k]
    return Comparison(matched, neurons, a[:, neurons], b[:, neurons])
