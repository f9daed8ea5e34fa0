"""Writing on: a [MASK] at the end is filled, and another put behind it."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.decoding import Strategy, distribution, entropy, pick
from ffnviz.model.model import Model
from ffnviz.model.tokenizer import MASK


@dataclass(frozen=True)
class Step:
    """One word or piece of a word that was written.

    Attributes:
        id: of the entry chosen.
        word: as it is appended, with its leading space if it has one.
        probability: it had after the cut, from 0 to 1.
        entropy: of the softmax, in bits.
        n_kept: entries the cut left to choose from.
        logits: everything it was chosen from, (vocab_size,).
    """

    id: int
    word: str
    probability: float
    entropy: float
    n_kept: int
    logits: NDArray[np.float32]


@dataclass(frozen=True)
class Writing:
    """A text and what was written behind it.

    Attributes:
        start: the text as typed, without a [MASK] and blanks at its end.
        ids: all tokens so far; unknown to a person, read by the network.
        steps: what was written, in order.
        full: whether there is no room for another token.
    """

    start: str
    ids: tuple[int, ...]
    steps: tuple[Step, ...]
    full: bool

    @property
    def written(self) -> str:
        """What was written, as text."""
        return "".join(step.word for step in self.steps)

    @property
    def text(self) -> str:
        """All of it."""
        return self.start + self.written if self.start else self.written.lstrip(" ")


def begin(model: Model, text: str) -> Writing:
    """Nothing written yet; a [MASK] at the end of the text is what will be filled first."""
    start = text.rstrip()
    if start.upper().endswith(MASK):
        start = start[: -len(MASK)].rstrip()
    ids = tuple(model.tokenizer.encode(start).ids)
    return Writing(start, ids, (), len(ids) >= model.encoder.config.max_tokens)


@torch.inference_mode()
def write_word(model: Model, writing: Writing, strategy: Strategy) -> Writing:
    """The same with one more word or piece of one, or unchanged if there is no room.

    What is no text by itself, [MASK] and single bytes of a character, is never chosen.
    """
    if writing.full:
        return writing
    ids = torch.tensor([*writing.ids, model.tokenizer.mask_id], device=model.device)
    final = model.encoder.stream(ids).final[-1]
    logits = model.encoder.unembed(final).cpu().numpy()
    plain = replace(strategy, top_k=0, top_p=1.0)
    never = no_text(model)
    told = distribution(logits, strategy, never)
    chosen = pick(told, strategy, step=len(writing.steps))
    step = Step(
        chosen,
        model.tokenizer.word(chosen),
        float(told.cut[chosen]),
        entropy(distribution(logits, plain, never).softmax),
        told.n_kept,
        logits,
    )
    so_far = (*writing.ids, chosen)
    full = len(so_far) >= model.encoder.config.max_tokens
    return Writing(writing.start, so_far, (*writing.steps, step), full)


def no_text(model: Model) -> NDArray[np.bool_]:
    """Which entries of the vocabulary are no text by themselves, (vocab_size,)."""
    tokenizer = model.tokenizer
    return np.array([
        entry == tokenizer.mask_id or "\ufffd" in tokenizer.word(entry)
        for entry in range(tokenizer.vocab_size)
    ])  # fmt: skip
