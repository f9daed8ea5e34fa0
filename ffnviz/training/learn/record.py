"""What is noted of a small network on its way."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.training.learn.neurons import Neurons


@dataclass(frozen=True)
class Sparsity:
    """One block's FFN on the held-out sentences.

    Attributes:
        active: share of the hidden values above zero.
        dead: share of the neurons that are above zero on no token.
    """

    active: float
    dead: float


@dataclass(frozen=True)
class HeldOut:
    """A look at sentences that it does not train on, one word hidden in each.

    Attributes:
        loss: mean cross-entropy, in nats.
        top5: share of the words that are among its five likeliest.
        blocks: one a block.
    """

    loss: float
    top5: float
    blocks: tuple[Sparsity, ...]


@dataclass(frozen=True)
class Record:
    """A network after some steps.

    Attributes:
        name: of the variant.
        step: steps done.
        seconds: of the processor, since it began.
        text: the sentence that was watched, with its [MASK].
        tokens: what it reads of that, as typed.
        words: the five likeliest for the hidden word.
        probabilities: theirs.
        held_out: what was last seen of the held-out sentences.
        hidden: of each block on the sentence, (n_blocks, T, d_ff), where that was noted.
        neurons: what they do, where that was noted.
    """

    name: str
    step: int
    seconds: float
    text: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    held_out: HeldOut
    hidden: NDArray[np.float16] | None
    neurons: Neurons | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without what differs from run to run."""
        return {
            "step": self.step,
            "loss": self.held_out.loss,
            "top5": self.held_out.top5,
            "blocks": [{"active": b.active, "dead": b.dead} for b in self.held_out.blocks],
            "words": dict(zip(self.words, self.probabilities, strict=True)),
        }
