"""Records of a small network in training."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.training.learn.neurons import Neurons


@dataclass(frozen=True)
class Sparsity:
    """One block's FFN on the held-out sentences."""

    active: float  # share of the hidden values above zero
    dead: float  # share of the neurons that are above zero on no token


@dataclass(frozen=True)
class HeldOut:
    """A network's results on sentences that it does not train on, one word masked in each."""

    loss: float  # mean cross-entropy, in nats
    top5: float  # share of the words that are among the five likeliest
    blocks: tuple[Sparsity, ...]  # one a block


@dataclass(frozen=True)
class Record:
    """A network after some steps."""

    name: str  # of the variant
    step: int  # steps done
    seconds: float  # of the processor, since it began
    text: str  # the sentence that was watched, with its [MASK]
    tokens: tuple[str, ...]  # that it reads of the sentence, as typed
    words: tuple[str, ...]  # the five likeliest for [MASK]
    probabilities: tuple[float, ...]  # theirs
    held_out: HeldOut  # at the last look
    hidden: NDArray[np.float16] | None  # on the sentence, (n_blocks, T, d_ff), if recorded
    neurons: Neurons | None = None  # if recorded

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without what differs from run to run."""
        return {
            "step": self.step,
            "loss": self.held_out.loss,
            "top5": self.held_out.top5,
            "blocks": [{"active": b.active, "dead": b.dead} for b in self.held_out.blocks],
            "words": dict(zip(self.words, self.probabilities, strict=True)),
        }
