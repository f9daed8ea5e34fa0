"""Generating text: a [MASK] at the end is filled, and another put behind it.

A network without a mask that reads from left to right goes on from the last token instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability, masked_id, require
from ffnviz.models.arguments import at_least, check_text, finite_number, yes_or_no
from ffnviz.models.edit import Edits, all_of
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.network import Network, NotForThisNetwork, TokenizerLike

SMALLEST_TEMPERATURE = 0.05


@dataclass(frozen=True)
class Strategy:
    """How a word is chosen; a ValueError says which value is not allowed."""

    temperature: float = 1.0  # the logits are divided by it, above 0
    top_k: int = 0  # only the k likeliest entries stay; 0 keeps all
    top_p: float = 1.0  # only the likeliest entries that together reach p stay; 1 keeps all
    sample: bool = False  # pick by chance instead of the likeliest
    seed: int = 0  # of the sampling

    def __post_init__(self) -> None:
        if not SMALLEST_TEMPERATURE <= self.temperature <= 100:
            raise ValueError(
                f"The temperature {self.temperature} is not allowed: give one from "
                f"{SMALLEST_TEMPERATURE} to 100."
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
    """softmax(logits / temperature), cut to the top k, then to the top p; 0 for those in `never`.

    Vaswani et al. 2017, section 3.4; top-k: Fan et al. 2018; top-p: Holtzman et al. 2020, eq. 3.
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


NEEDS = (Capability.WORD_HEAD,)  # and a mask, or reading from left to right


@dataclass(frozen=True)
class GeneratedToken:
    """One word or piece of a word that was generated.

    Attributes:
        id: of the entry chosen.
        word: as it is appended, with its leading space if it has one.
        probability: it had after the cut, from 0 to 1.
        entropy: of the softmax, in bits.
        n_kept: entries that the cut left to choose from.

    Examples:
        >>> token = ffnviz.generate(ffnviz.load("relu"), "She opened the", 1).steps[0]
        >>> token.word, 0 < token.probability < 1
        (' door', True)
    """

    id: int
    word: str
    probability: float
    entropy: float
    n_kept: int


@dataclass(frozen=True)
class Generation:
    """A text and what was generated after it.

    Attributes:
        start: the text as typed, without a [MASK] and blanks at its end.
        ids: all tokens so far; unknown to a person, read by the network.
        steps: what was generated, in order.
        full: whether no further token fits.
        ends: what the tokenizer puts after any text, such as [SEP]; read behind the mask.

    Examples:
        >>> made = ffnviz.generate(ffnviz.load("relu"), "She opened the", 2)
        >>> len(made.ids), made.text.startswith("She opened the door"), made.full
        (5, True, False)
    """

    start: str
    ids: tuple[int, ...]
    steps: tuple[GeneratedToken, ...]
    full: bool
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


def generate(
    network: Network,
    text: str,
    n: int = 20,
    *,
    edits: Edits = (),
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    sample: bool = False,
    seed: int = 0,
) -> Generation:
    """Continue a text, one token a pass: greedily or by chance, and under edits.

    A network that reads from left to right predicts the next token at the last one; one with a mask
    fills a [MASK] that is put after the text at each step. [MASK], other special tokens and single
    bytes of a character are never chosen.

    Args:
        network: any with a word head that has a mask, or reads from left to right.
        text: what it goes on from; a [MASK] at its end is the first that is filled.
        n: how many tokens; fewer if no more fit.
        edits: made in the pass of every step. A token's number from 0 is that token in all of them,
            −1 the last that is read; without tokens it is all that there are then.
        temperature: what the logits are divided by, from 0.05 to 100.
        top_k: only the k likeliest entries stay; 0 keeps all (Fan et al. 2018).
        top_p: only the likeliest that together reach p stay, 0 < p ≤ 1 (Holtzman et al. 2020).
        sample: picks by chance; else the likeliest.
        seed: of the chance, 0 or more.

    Raises:
        TypeError: if the text is not a str.
        ValueError: naming what is out of range, or what an edit is to change and is not there.
        NotForThisNetwork: without a word head; with neither a mask nor a reading direction; or
            without a mask, if there is no word to go on from.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> ffnviz.generate(model, "She opened the", 2).steps[0].word
        ' door'
        >>> off = ffnviz.Edit(1, scale=0.0, at="ffn")
        >>> ffnviz.generate(model, "She opened the", 2, edits=off).text
        'She opened the door closed'
    """
    require(network, (*NEEDS, Capability.WRITES))
    check_text(text)
    edits, n, seed = all_of(edits), at_least("n", n, 0), at_least("seed", seed, 0)
    temperature, top_p = finite_number("temperature", temperature), finite_number("top_p", top_p)
    sample = yes_or_no("sample", sample)
    how = Strategy(temperature, at_least("top_k", top_k, 0), top_p, sample, seed)
    made = begin(network, text)
    for _ in range(n):
        if made.full:
            break
        made = write_word(network, made, how, edits=edits)
    return made


def begin(model: Network, text: str) -> Generation:
    """The text before anything is written; a [MASK] at its end will be filled first."""
    start = text.rstrip()
    if start.upper().endswith(MASK) and model.card.has_mask:
        start = start[: -len(MASK)].rstrip()
    tokens = list(model.tokenizer.encode(start, model.sizes.max_tokens).tokens)
    ends: list[int] = []
    while len(tokens) > 1 and tokens[-1].special:
        ends.insert(0, tokens.pop().id)
    ids = tuple(token.id for token in tokens)
    return Generation(start, ids, (), _is_full(model, ids, ends), tuple(ends))


@torch.no_grad()
def write_word(
    model: Network,
    writing: Generation,
    strategy: Strategy,
    logits_of: Callable[[Network, Generation, int], NDArray[np.float32]] | None = None,
    edits: Edits = (),
) -> Generation:
    """The text with one more word or piece of one, or unchanged if there is no room.

    Never chosen are [MASK] and single bytes of a character, which are not text by themselves.
    `logits_of` is as `logits_before`, for a caller that keeps some.
    """
    require(model, NEEDS)
    if writing.full:
        return writing
    step = len(writing.steps)
    logits = (logits_of or partial(logits_before, edits=edits))(model, writing, step)
    probabilities = distribution(logits, strategy, no_text(model))
    chosen = pick(probabilities, strategy, step)
    written = GeneratedToken(
        chosen,
        model.tokenizer.word(chosen),
        float(probabilities.cut[chosen]),
        entropy(probabilities.softmax),
        probabilities.n_kept,
    )
    so_far = (*writing.ids, chosen)
    full = _is_full(model, so_far, writing.ends)
    return Generation(writing.start, so_far, (*writing.steps, written), full, writing.ends)


@torch.no_grad()
def logits_before(
    model: Network, writing: Generation, step: int, edits: Edits = ()
) -> NDArray[np.float32]:
    """The logits that a step's entry is chosen from, (vocab_size,); of the next one, too.

    A text does not hold them: they would take a hundred times its memory.
    """
    prompt = list(writing.ids_before(step))  # the next word is predicted at the last of these
    if model.card.has_mask or not model.card.causal:
        prompt.append(masked_id(model))
    elif not prompt:
        raise NotForThisNetwork(
            f"{model.card.label} has no mask: it goes on from a word. Type one first."
        )
    behind = writing.ends if model.card.has_mask else ()
    run = model.run(torch.tensor([*prompt, *behind], device=model.device), edits)
    logits: NDArray[np.float32] = run.logits_at(len(prompt) - 1).float().cpu().numpy()
    return logits


def _is_full(model: Network, ids: Sequence[int], ends: Sequence[int]) -> bool:
    return len(ids) + (len(ends) if model.card.has_mask else 0) >= model.sizes.max_tokens


def no_text(model: Network) -> NDArray[np.bool_]:
    """Which entries of the vocabulary are not text by themselves, (vocab_size,)."""
    return _no_text(model.tokenizer)  # type: ignore[arg-type]  # whatever it is, it is an object


@lru_cache(maxsize=4)
def _no_text(tokenizer: TokenizerLike) -> NDArray[np.bool_]:
    return np.array(
        [
            entry in tokenizer.special_ids
            or not tokenizer.word(entry)
            or "\ufffd" in tokenizer.word(entry)
            for entry in range(tokenizer.vocab_size)
        ]
    )
