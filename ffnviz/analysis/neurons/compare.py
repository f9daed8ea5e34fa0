"""Two sentences compared: which tokens correspond, and which neurons differ most on them."""

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class Comparison:
    """One block's hidden values on pairs of tokens."""

    pairs: NDArray[np.int64]  # a token of the first and one of the second sentence, (n_pairs, 2)
    neurons: NDArray[np.int64]  # those that differ most, the most different first, (k,)
    # first, second: their hidden values on the pairs, (n_pairs, k)
    first: NDArray[np.float32]
    second: NDArray[np.float32]

    @property
    def difference(self) -> NDArray[np.float32]:
        """Second minus first, (n_pairs, k)."""
        return self.second - self.first


def pairs(first: list[int], second: list[int]) -> NDArray[np.int64]:
    """The tokens that correspond, by their ids: equal ones, and those that replace others.

    Where one side has more tokens than the other, the rest have no partner.
    """
    matcher = SequenceMatcher(a=first, b=second, autojunk=False)
    matched = [
        (a + step, b + step)
        for tag, a, a_end, b, b_end in matcher.get_opcodes()
        if tag in ("equal", "replace")
        for step in range(min(a_end - a, b_end - b))
    ]
    return np.array(matched, dtype=np.int64).reshape(-1, 2)


def compare(
    first: ForwardPass, second: ForwardPass, block: int, k: int = 20, pair: int | None = None
) -> Comparison:
    """The k neurons of a block that differ most between two sentences.

    They are ranked by their largest difference on any pair of tokens, or by that on `pair`, an
    index of `pairs`.
    """
    matched = pairs(first.ids.tolist(), second.ids.tolist())
    a = first.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 0]]  # (n_pairs, d_ff)
    b = second.blocks[block].ffn.hidden.cpu().numpy()[matched[:, 1]]
    if not len(matched):
        nothing = np.zeros((0, 0), np.float32)
        return Comparison(matched, np.zeros(0, np.int64), nothing, nothing)
    difference = np.abs(b - a)
    ranked_by = difference.max(axis=0) if pair is None else difference[pair]
    neurons = np.argsort(-ranked_by, kind="stable")[:k]
    return Comparison(matched, neurons, a[:, neurons], b[:, neurons])
