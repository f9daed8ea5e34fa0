"""The settings of a training run."""

from dataclasses import asdict, dataclass
from typing import Any

HELD_OUT = ("black-beauty", "little-men", "the-time-machine")


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run; networks that differ in the activation alone are twins."""

    seed: int = 20_261_120  # of the initial weights and of every batch
    steps: int = 5_120  # optimiser steps
    batch_tokens: int = 4_096  # tokens a step; a step of length T has batch_tokens // T sequences
    usual_length: int = 64  # T of half the steps; others: 6 … max_tokens, log-uniformly
    mask_share: float = 0.2  # share of the tokens that are masked
    end_share: float = 0.2  # share of the sequences in which only the last token is masked
    sentence_share: float = 0.0  # share of the steps that are made of single sentences
    fact_share: float = 0.0  # share of the steps that are made of facts; sentences: of the others
    learning_rate: float = 1e-3  # the highest; linear warm-up, then a cosine to zero
    warmup_steps: int = 250  # length of the warm-up
    weight_decay: float = 0.05  # of AdamW, on matrices only
    betas: tuple[float, float] = (0.9, 0.98)  # of AdamW
    clip: float = 1.0  # the largest gradient norm
    held_out: tuple[str, ...] = HELD_OUT  # books (without .txt) for validation
    points: int = 25  # validation points on the way, step 0 and the last step included
    point_tokens: int = 32_768  # held-out tokens looked at in each point; the final one takes all

    def point_steps(self) -> set[int]:
        """The steps after which the network is validated, denser at the start."""
        last = self.points - 1
        return {round(self.steps * (i / last) ** 2) for i in range(self.points)}

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**asdict(self), "betas": list(self.betas), "held_out": list(self.held_out)}
