"""What wakes each neuron on a set of texts: counts and strongest examples, gathered in one pass."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Need
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.neurons.texts import BATCH_TOKENS, TextBatch, batches
from ffnviz.analysis.sparsity.awake import threshold_for
from ffnviz.model.card import Sizes
from ffnviz.model.network import Network

NEEDS: tuple[Need, ...] = ()
EXAMPLES = 12
LONGEST = 512  # tokens of a text; a longer one is cut, so that counts by position stay small
BATCH_VALUES = 2**24  # hidden values of a batch: 64 MiB as float32


@dataclass(frozen=True)
class BlockIndex:
    """One block's neurons.

    Attributes:
        by_position: tokens at each position on which a neuron fired, (n_positions, d_ff).
        texts: texts in which it fired at least once, (d_ff,).
        by_tag: of these, those with each tag, (n_tags, d_ff).
        values: its strongest value in each of its strongest texts, the strongest first, (k, d_ff);
            −inf where there were fewer texts.
        examples: which texts, as places in NeuronIndex.texts, (k, d_ff).
        tokens: at which of the text's tokens, (k, d_ff).
    """

    by_position: NDArray[np.int32]
    texts: NDArray[np.int32]
    by_tag: NDArray[np.int32]
    values: NDArray[np.float32]
    examples: NDArray[np.int32]
    tokens: NDArray[np.unsignedinteger]

    @property
    def fired(self) -> NDArray[np.int64]:
        """Tokens on which each neuron fired, (d_ff,)."""
        fired: NDArray[np.int64] = self.by_position.sum(axis=0, dtype=np.int64)
        return fired


@dataclass(frozen=True)
class NeuronIndex:
    """All neurons of a model on a set of texts.

    Attributes:
        source: what the texts are.
        threshold: a neuron fires where hidden is above this.
        n_texts: how many texts.
        at_position: tokens at each position, (n_positions,).
        tags: all tags, sorted.
        with_tag: texts with each, (n_tags,).
        texts: those that are somebody's example.
        blocks: one a block.
    """

    source: str
    threshold: float
    n_texts: int
    at_position: NDArray[np.int64]
    tags: tuple[str, ...]
    with_tag: NDArray[np.int64]
    texts: tuple[str, ...]
    blocks: tuple[BlockIndex, ...]

    @property
    def n_tokens(self) -> int:
        """Tokens in all texts."""
        return int(self.at_position.sum())


class _Gathered:
    """One block's counts so far; their size depends on no number of texts."""

    def __init__(self, sizes: Sizes, device: torch.device, n_tags: int, threshold: float) -> None:
        d_ff, longest = sizes.d_ff, min(LONGEST, sizes.max_tokens)
        self.threshold = threshold
        # Whole numbers: a float32 counts no further than 16,777,216.
        self.by_position = torch.zeros(longest, d_ff, dtype=torch.int32, device=device)
        self.texts = torch.zeros(d_ff, dtype=torch.int32, device=device)
        self.by_tag = torch.zeros(n_tags, d_ff, dtype=torch.int32, device=device)
        self.values = torch.full((EXAMPLES, d_ff), -torch.inf, device=device)
        self.numbers = torch.full((EXAMPLES, d_ff), -1, device=device)
        self.tokens = torch.zeros(EXAMPLES, d_ff, dtype=torch.long, device=device)

    def add(self, hidden: Tensor, tagged: Tensor, numbers: Tensor) -> None:
        """A batch: hidden (B, T, d_ff), tagged (B, n_tags), numbers (B,)."""
        n_texts, n_tokens, _ = hidden.shape
        self.by_position[:n_tokens] += (hidden > self.threshold).sum(dim=0, dtype=torch.int32)
        strongest = hidden.amax(dim=1)  # (B, d_ff)
        fired = (strongest > self.threshold).float()
        self.texts += fired.sum(dim=0).int()
        self.by_tag += (tagged.T @ fired).int()
        # Where a token's value is not among the strongest so far, it need not be looked for.
        new = strongest.topk(min(EXAMPLES, n_texts), dim=0)
        neurons = torch.arange(hidden.shape[-1], device=hidden.device)
        at = torch.stack([hidden[rows, :, neurons].argmax(dim=-1) for rows in new.indices])
        best = torch.cat([self.values, new.values]).topk(EXAMPLES, dim=0)
        self.values = best.values
        self.numbers = torch.cat([self.numbers, numbers[new.indices]]).gather(0, best.indices)
        self.tokens = torch.cat([self.tokens, at]).gather(0, best.indices)

    def result(self, n_positions: int, place: dict[int, int]) -> BlockIndex:
        places = torch.tensor([place.get(n, 0) for n in self.numbers.flatten().tolist()])
        return BlockIndex(
            self.by_position[:n_positions].cpu().numpy().astype(np.int32),
            self.texts.cpu().numpy().astype(np.int32),
            self.by_tag.cpu().numpy().astype(np.int32),
            self.values.cpu().numpy(),
            places.reshape(self.numbers.shape).numpy().astype(np.int32),
            self.tokens.cpu().numpy().astype(np.min_scalar_type(max(n_positions - 1, 0))),
        )


class _Texts:
    """The texts that are somebody's example; the others are forgotten from time to time."""

    def __init__(self) -> None:
        self.kept: dict[int, str] = {}
        self.limit = 4_096

    def add(self, batch: TextBatch, gathered: list[_Gathered]) -> None:
        wanted = set(torch.cat([g.numbers.flatten() for g in gathered]).tolist())
        for number, probe in zip(batch.numbers, batch.probes, strict=True):
            if number in wanted:
                self.kept[number] = probe.text
        if len(self.kept) > self.limit:
            self.kept = {number: text for number, text in self.kept.items() if number in wanted}
            self.limit = max(self.limit, 2 * len(self.kept))


@torch.inference_mode()
def build_index(
    model: Network,
    texts: Iterable[Probe],
    tags: tuple[str, ...],
    source: str,
    progress: Callable[[int], None] = lambda _tokens: None,
) -> NeuronIndex:
    """One pass over texts, of which there may be any number.

    Args:
        model: whose neurons.
        texts: read once; longer ones are cut at LONGEST tokens, or the network's max_tokens.
        tags: all that may occur.
        source: what the texts are, in a few words.
        progress: told after each batch how many tokens are done.

    Raises:
        ValueError: if there are no texts, or one has a tag that is not in `tags`.
    """
    sizes = model.sizes
    max_tokens = min(LONGEST, sizes.max_tokens)
    threshold = threshold_for(model.card.phi)
    gathered = [_Gathered(sizes, model.device, len(tags), threshold) for _ in range(sizes.n_blocks)]
    place_of = {tag: place for place, tag in enumerate(tags)}
    with_tag, at_position = torch.zeros(len(tags)), torch.zeros(max_tokens, dtype=torch.long)
    kept, n_texts = _Texts(), 0
    batch_tokens = max(1, min(BATCH_TOKENS, BATCH_VALUES // sizes.d_ff))
    for batch in batches(texts, model.tokenizer, max_tokens, batch_tokens):
        tagged = torch.zeros(len(batch.probes), len(tags))
        for row, probe in enumerate(batch.probes):
            unknown = [tag for tag in probe.tags if tag not in place_of]
            if unknown:
                raise ValueError(f"The tag “{unknown[0]}” is not among those announced.")
            tagged[row, [place_of[tag] for tag in probe.tags]] = 1
        numbers = torch.tensor(batch.numbers, device=model.device)
        for counts, block in zip(gathered, model.walk(batch.ids.to(model.device)), strict=True):
            counts.add(block.ffn.hidden, tagged.to(model.device), numbers)
        kept.add(batch, gathered)
        with_tag += tagged.sum(dim=0)
        at_position[: batch.ids.shape[1]] += len(batch.probes)
        n_texts += len(batch.probes)
        progress(int(at_position.sum()))
    if not n_texts:
        raise ValueError("There are no texts to make an index of.")
    used = sorted(set(torch.cat([g.numbers.flatten() for g in gathered]).tolist()) - {-1})
    place = {number: at for at, number in enumerate(used)}
    n_positions = int((at_position > 0).sum())
    return NeuronIndex(
        source, threshold, n_texts, at_position[:n_positions].numpy(), tags,
        with_tag.long().numpy(), tuple(kept.kept[number] for number in used),
        tuple(counts.result(n_positions, place) for counts in gathered),
    )  # fmt: skip
