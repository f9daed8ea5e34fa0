"""The encoder: token ids in, every intermediate value and the logits out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ffnviz.models.card import Sizes
from ffnviz.models.edit import Edit, Edits, all_of, edits_of
from ffnviz.models.encoder.block import Block, BlockRecord
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.linear import linear
from ffnviz.models.torch_shortcuts import draws_from

INIT_STD = 0.02


@dataclass(frozen=True)
class StreamRecord:
    """The residual stream from the embedding to the final LayerNorm, with all stages."""

    ids: Int[Tensor, "*batch tokens"]  # the token ids, (*batch, T)
    embedding: Float[Tensor, "*batch tokens d_model"]  # token embedding + position
    blocks: tuple[BlockRecord, ...]  # one record a block, in order
    final: Float[Tensor, "*batch tokens d_model"]  # what the output matrix reads


@dataclass(frozen=True)
class EncoderTrace(StreamRecord):
    """A whole forward pass."""

    logits: Float[Tensor, "*batch tokens vocab_size"]  # one score a vocabulary entry

    def logits_at(self, token: int) -> Float[Tensor, "*batch vocab_size"]:
        """The logits at one token, (*batch, vocab_size)."""
        return self.logits[..., token, :]


class Encoder(nn.Module):
    """Embedding + positions, blocks, final LayerNorm (pre-LN only), logits by the tied embedding.

    Vaswani et al. 2017, figure 1 (left) and section 3.4 for the tied output matrix.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = nn.Embedding(config.max_tokens, config.d_model)
        # To a type checker a ModuleList holds modules of any type: say that these are blocks.
        blocks = nn.ModuleList(Block(config) for _ in range(config.n_blocks))
        self.blocks = cast("Sequence[Block]", blocks)
        self.final_norm: nn.Module = nn.Identity()  # a post-LN block ends with its own LayerNorm
        if config.norm == "pre":
            self.final_norm = nn.LayerNorm(config.d_model, config.layer_norm_eps, bias=config.bias)

    def forward(self, ids: Int[Tensor, "*batch tokens"], edits: Edits = ()) -> EncoderTrace:
        """A whole pass over ids, (*batch, T) with 1 ≤ T ≤ max_tokens, with edits made on it."""
        record = self.stream(ids, edits)
        return EncoderTrace(**vars(record), logits=self.unembed(record.final))

    def stream(self, ids: Int[Tensor, "*batch tokens"], edits: Edits = ()) -> StreamRecord:
        """The pass without the logits, which some need at a few positions only."""
        embedding = self.embed(ids)
        blocks, final = self.run_blocks(embedding, edits=self.settled(edits, ids.shape[-1]))
        return StreamRecord(ids, embedding, blocks, final)

    def embed(self, ids: Int[Tensor, "*batch tokens"]) -> Float[Tensor, "*batch tokens d_model"]:
        """Token embedding + position, (*batch, T) -> (*batch, T, d_model)."""
        n_tokens = ids.shape[-1]
        if not 1 <= n_tokens <= self.config.max_tokens:
            raise ValueError(
                f"{n_tokens} tokens cannot be encoded: "
                f"give from 1 to max_tokens = {self.config.max_tokens}."
            )
        embedding: Tensor = self.token_embedding(ids) + self.position_embedding.weight[:n_tokens]
        return embedding

    def run_blocks(
        self, x: Float[Tensor, "*batch tokens d_model"], first: int = 0, edits: Sequence[Edit] = ()
    ) -> tuple[tuple[BlockRecord, ...], Float[Tensor, "*batch tokens d_model"]]:
        """The stream x through the blocks from `first` on: their records, and the final norm."""
        records = tuple(self.walk(x, first, edits))
        return records, self.final_norm(records[-1].output if records else x)

    def walk(
        self, x: Float[Tensor, "*batch tokens d_model"], first: int = 0, edits: Sequence[Edit] = ()
    ) -> Iterator[BlockRecord]:
        """The blocks' records one after the other, so that only one need be in memory."""
        for number, module in enumerate(self.blocks[first:], start=first):
            record = module(x, edits_of(edits, number))
            x = record.output
            yield record

    def settled(self, edits: Edits, n_tokens: int) -> tuple[Edit, ...]:
        """The edits of a pass over so many tokens, checked; see Edit.settled."""
        c = self.config
        sizes = Sizes(c.d_model, c.d_ff, c.n_blocks, c.vocab_size, c.max_tokens)
        shape = c.n_heads, c.d_model // c.n_heads
        return tuple(edit.settled(sizes, n_tokens, lambda _: shape) for edit in all_of(edits))

    def unembed(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab_size"]:
        """Logits by the tied embedding matrix E: x Eᵀ, (…, d_model) -> (…, vocab_size)."""
        return linear(x, self.token_embedding.weight)


def initial_encoder(config: EncoderConfig, seed: int) -> Encoder:
    """An untrained encoder whose weights depend on nothing but its shapes and the seed.

    Two configurations that differ only in φ get the same weights. It does not use the
    process-wide random state, so any number of threads may make encoders at once.
    """
    generator = torch.Generator().manual_seed(seed)
    with draws_from(generator):
        # The layers' own initial values are replaced below, but must be drawn: the twins' training
        # started from what follows them in the generator's stream.
        encoder = Encoder(config)
    for module in encoder.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=INIT_STD, generator=generator)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return encoder
