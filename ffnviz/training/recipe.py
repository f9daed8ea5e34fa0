"""All that decides what a training run does, as one frozen value."""

from dataclasses import asdict, dataclass
from typing import Any

HELD_OUT = ("black-beauty", "little-men", "the-time-machine")


@dataclass(frozen=True)
class Recipe:
    """A training run. Two runs that differ in the activation only make twins.

    Attributes:
        seed: of the initial weights and of every batch.
        steps: optimiser steps.
        batch_tokens: tokens a step; a step of length T has batch_tokens // T sequences.
        usual_length: T of half the steps; the others draw T from 6 … max_tokens, log-uniformly.
        mask_share: share of the tokens that are masked.
        end_share: share of the sequences in which only the last token is masked.
        sentence_share: share of the steps that are made of single sentences.
        learning_rate: the highest; linear warm-up, then a cosine to zero.
        warmup_steps: length of the warm-up.
        weight_decay: of AdamW, on matrices only.
        betas: of AdamW.
        clip: the largest gradient norm.
        held_out: names of the books (without .txt) kept for validation.
        points: validation points on the way, step 0 and the last step included.
        point_tokens: held-out tokens looked at in each point; the final one takes all.
    """

    seed: int = 20_261_120
    steps: int = 5_120
    batch_tokens: int = 4_096
    usual_length: int = 64
    mask_share: float = 0.2
    end_share: float = 0.2
    sentence_share: float = 0.0
    learning_rate: float = 1e-3
    warmup_steps: int = 250
    weight_decay: float = 0.05
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    held_out: tuple[str, ...] = HELD_OUT
    points: int = 25
    point_tokens: int = 32_768

    def point_steps(self) -> set[int]:
        """The steps after which the validation set is looked at, denser at the start."""
        last = self.points - 1
        return {round(self.steps * (i / last) ** 2) for i in range(self.points)}

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**asdict(self), "betas": list(self.betas), "held_out": list(self.held_out)}
