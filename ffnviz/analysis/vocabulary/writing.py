"""Writing on: a [MASK] at the end is filled, and another put behind it.

A network without a mask that reads from left to right goes on from the last token instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability, masked_id, require
from ffnviz.analysis.vocabulary.decoding import Strategy, distribution, entropy, pick
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.network import Network, NotForThisNetwork, TokenizerLike

NEEDS = (Capability.WORD_HEAD,)  # and a mask, or reading from left to right


@dataclass(frozen=True)
class Step:
    """One word or piece of a word that was written."""

    id: int  # of the entry chosen
    word: str  # as it is appended, with its leading space if it has one
    probability: float  # it had after the cut, from 0 to 1
    entropy: float  # of the softmax, in bits
    n_kept: int  # entries the cut left to choose from


@dataclass(frozen=True)
class Writing:
    """A text and what was written behind it."""

    start: str  # the text as typed, without a [MASK] and blanks at its end
    ids: tuple[int, ...]  # all tokens so far; unknown to a person, read by the network
    steps: tuple[Step, ...]  # what was written, in order
    full: bool  # whether no further token fits
    # what the tokenizer puts behind any text, such as [SEP]; read behind the mask
    ends: tuple[int, ...] = ()

    def ids_before(self, step: int) -> tuple[int, ...]:
        """The tokens that a step was chosen behind."""
        return self.ids[: len(self.ids) - len(self.steps) + step]

    @property
    def written(self) -> str:
        """What was written, as text."""
        return "".join(step.word for step in self.steps)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.start + self.written if self.start else self.written.lstrip(" ")


def begin(model: Network, text: str) -> Writing:
    """The text before anything is written; a [MASK] at its end will be filled first."""
    start = text.rstrip()
    if start.upper().endswith(MASK) and model.card.has_mask:
        start = start[: -len(MASK)].rstrip()
    tokens = list(model.tokenizer.encode(start, model.sizes.max_tokens).tokens)
    ends: list[int] = []
    while len(tokens) > 1 and tokens[-1].special:
        ends.insert(0, tokens.pop().id)
    ids = tuple(token.id for token in tokens)
    return Writing(start, ids, (), _is_full(model, ids, ends), tuple(ends))


@torch.no_grad()
def write_word(
    model: Network,
    writing: Writing,
    strategy: Strategy,
    logits_of: Callable[[Network, Writing, int], NDArray[np.float32]] | None = None,
) -> Writing:
    """The text with one more word or piece of one, or unchanged if there is no room.

    Never chosen are [MASK] and single bytes of a character, which are no text by themselves.

    Args:
        model: which writes.
        writing: the text so far.
        strategy: how a word is chosen.
        logits_of: as `logits_before`, for a caller that keeps some.

    Raises:
        NotForThisNetwork: without a word head; with neither a mask nor a reading direction; or
            without a mask, if there is no word to go on from.
    """
    require(model, NEEDS)
    if writing.full:
        return writing
    step = len(writing.steps)
    logits = (logits_of or logits_before)(model, writing, step)
    probabilities = distribution(logits, strategy, no_text(model))
    chosen = pick(probabilities, strategy, step)
    written = Step(
        chosen,
        model.tokenizer.word(chosen),
        float(probabilities.cut[chosen]),
        entropy(probabilities.softmax),
        probabilities.n_kept,
    )
    so_far = (*writing.ids, chosen)
    full = _is_full(model, so_far, writing.ends)
    return Writing(writing.start, so_far, (*writing.steps, written), full, writing.ends)


@torch.no_grad()
def logits_before(model: Network, writing: Writing, step: int) -> NDArray[np.float32]:
    """The logits that a step's entry is chosen from, (vocab_size,); of the next one, too.

    A text does not hold them: they would take a hundred times its memory.
    """
    return _logits(model, writing.ids_before(step), writing.ends)


def _is_full(model: Network, ids: Sequence[int], ends: Sequence[int]) -> bool:
    return len(ids) + (len(ends) if model.card.has_mask else 0) >= model.sizes.max_tokens


def _logits(model: Network, ids: tuple[int, ...], ends: tuple[int, ...]) -> NDArray[np.float32]:
    prompt = _prompt(model, ids)
    behind = ends if model.card.has_mask else ()
    run = model.run(torch.tensor([*prompt, *behind], device=model.device))
    logits: NDArray[np.float32] = run.logits_at(len(prompt) - 1).float().cpu().numpy()
    return logits


def _prompt(model: Network, ids: tuple[int, ...]) -> list[int]:
    """The ids that the network reads; the next word is predicted at the last."""
    if model.card.has_mask or not model.card.causal:
        return [*ids, masked_id(model)]
    if not ids:
        raise NotForThisNetwork(
            f"{model.card.label} has no mask: it goes on from a word. Type one first."
        )
    return list(ids)


def no_text(model: Network) -> NDArray[np.bool_]:
    """Which entries of the vocabulary are no text by themselves, (vocab_size,)."""
    return _no_text(model.tokenizer)  # type: ignore[arg-type]  # whatever it is, it is an object


@lru_cache(maxsize=4)
def _no_text(tokenizer: TokenizerLike) -> NDArray[np.bool_]:
    return np.array([
        entry in tokenizer.special_ids or not tokenizer.word(entry)
        or "\ufffd" in tokenizer.word(entry)
        for entry in range(tokenizer.vocab_size)
    ])  # fmt: skip
