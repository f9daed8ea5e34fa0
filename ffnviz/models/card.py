"""What a network says of itself, for pages and analyses to read before they look inside."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from ffnviz.models.activations import Activation


@dataclass(frozen=True, eq=False)
class Provenance:
    """Where a network's weights come from, as far as it is known.

    Attributes:
        record: the file with what was measured during its training.
        seed: of its untrained weights, which follow from it and the configuration.
        token_counts: how often each entry occurred in the training text, (vocab_size,).
        index: the file with what activates each of its neurons.

    Examples:
        >>> ffnviz.load("relu").card.provenance.token_counts.shape
        torch.Size([8192])
    """

    record: Path | None = None
    seed: int | None = None
    token_counts: Tensor | None = field(default=None, repr=False)
    index: Path | None = None


@dataclass(frozen=True, eq=False)
class Card:
    """What a network is.

    Attributes:
        id: what a link calls it; no two networks at hand have the same.
        label: what a page calls it.
        phi: φ of its FFNs.
        colour: a name in the palette, or "#rrggbb".
        gated: whether its FFNs multiply φ(x·key) by a second projection (Shazeer 2020).
        causal: whether it reads from left to right; else both ways.
        has_mask: whether it has a token that stands for a word to fill in.
        has_word_head: whether it predicts words.
        has_word_vectors: whether a logit is one product of the normed stream and the word's vector.
        pre_norm: whether all that is written is added to one stream, which is normalised only
            where it is read.
        attention_seen: whether it is known which token attends to which.
        in_order: whether attention comes before the FFN, and both are added as they are written,
            and nothing else.
        also_adds: what else a block adds to the stream, behind its FFN; empty of most networks.
        scales: whether a block then multiplies the whole stream by a number of its own.
        ours: whether it is an Encoder of this package, module by module.
        provenance: where its weights come from; None if nothing is known.
        proof: what was proved of it before it was shown, a line an equation; empty for our own.

    Examples:
        >>> card = ffnviz.load("gelu").card
        >>> card.id, card.phi.label, card.gated, card.causal, card.pre_norm
        ('gelu', 'GELU', False, False, True)
    """

    id: str
    label: str
    phi: Activation
    colour: str
    gated: bool
    causal: bool
    has_mask: bool
    has_word_head: bool
    has_word_vectors: bool
    pre_norm: bool
    attention_seen: bool = False
    in_order: bool = False
    also_adds: str = ""
    scales: bool = False
    ours: bool = False
    provenance: Provenance | None = None
    proof: tuple[str, ...] = ()

    @property
    def signed(self) -> bool:
        """Whether hidden can be below zero: φ can be, or it is multiplied by what can be."""
        return self.phi.below_zero or self.gated


@dataclass(frozen=True)
class NetworkSize:
    """How many blocks a network has, and how many neurons in each."""

    n_blocks: int
    d_ff: int


@dataclass(frozen=True)
class Sizes:
    """How large a network is.

    Attributes:
        d_model: width of the residual stream.
        d_ff: neurons of each FFN.
        n_blocks: blocks.
        vocab_size: entries of the vocabulary.
        max_tokens: the longest sequence.
        n_parameters: all its weights, those used twice counted once; 0 if not counted.
        streams_per_block: how many places of the stream a trace keeps of each block.

    Examples:
        >>> sizes = ffnviz.load("relu").sizes
        >>> sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size, sizes.max_tokens
        (512, 2048, 2, 8192, 128)
        >>> sizes.trace_nbytes(10)  # of the streams of ten tokens
        102400
    """

    d_model: int
    d_ff: int
    n_blocks: int
    vocab_size: int
    max_tokens: int
    n_parameters: int = 0
    streams_per_block: int = 2

    def trace_nbytes(self, n_tokens: int) -> int:
        """Bytes of the trace of n_tokens tokens: the streams of all blocks, and the first one."""
        return 4 * n_tokens * self.d_model * (self.streams_per_block * self.n_blocks + 1)


def seed_in(record: Path) -> int | None:
    """The seed of the initial weights in a training record; None if the file has none."""
    try:
        seed = json.loads(record.read_text(encoding="utf-8"))["recipe"]["seed"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return seed if type(seed) is int else None
