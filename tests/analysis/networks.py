"""Tiny random networks of every kind the analyses may meet: ours in odd shapes, and a stranger."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any

import torch
from tokenizers import Tokenizer as BytePairTokenizer
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.arguments import Hold, what_to_hold
from ffnviz.models.card import Card, Sizes
from ffnviz.models.edit import Edit, Edits, all_of, edited, edits_of
from ffnviz.models.encoder.attention import AttentionRecord
from ffnviz.models.encoder.block import BlockRecord
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.fingerprint import fingerprint
from ffnviz.models.network import BATCH, Network, NotForThisNetwork, TokenizerLike
from ffnviz.models.trace import BlockTrace, ForwardPass, LazyValue, StreamTrace, Trace
from ffnviz.models.views import AttentionView, FfnView, Norm, WordHead, WordVectors

SHAPES: dict[str, dict[str, object]] = {
    "plain": {},
    "one block": {"n_blocks": 1},
    "nine blocks": {"n_blocks": 9},
    "wide": {"d_ff": 65_537, "d_model": 4, "n_heads": 1},
    "many words": {"vocab_size": 65_537, "d_model": 4, "n_heads": 1},
    "gated": {"activation": "geglu"},
    "no biases": {"bias": False, "activation": "gelu"},
    "post-LN": {"norm": "post", "activation": "gelu"},
    "causal": {"causal": True},
}
STRANGERS = ("stranger", "headless stranger")


def network(name: str, tokenizer: Tokenizer) -> Network:
    """One by its name in SHAPES or STRANGERS."""
    if name in STRANGERS:
        return Stranger(tokenizer, headless=name != STRANGERS[0])
    return ours(tokenizer, **SHAPES[name])


def ours(tokenizer: Tokenizer, **changes: object) -> Model:
    """An encoder whose biases and gains are not the neutral ones of a new one."""
    sizes = {"vocab_size": 300, "d_model": 16, "n_heads": 2, "d_ff": 32, "n_blocks": 2}
    config = EncoderConfig.from_dict({**sizes, **changes})
    encoder = initial_encoder(config, seed=3).eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(4)
    for parameter in encoder.parameters():
        parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    words = tokenizer if config.vocab_size == 300 else with_words(tokenizer, config.vocab_size)
    return Model("tiny", encoder, words, torch.full((config.vocab_size,), 10_000))


def small_model(tokenizer: Tokenizer, norm: str = "pre", activation: str = "relu") -> Model:
    """One of three blocks."""
    return ours(tokenizer, norm=norm, activation=activation, n_blocks=3)


def with_words(tokenizer: Tokenizer, vocab_size: int) -> Tokenizer:
    """The same with made-up entries that no text has, up to a size."""
    values = json.loads(tokenizer._bpe.to_str())
    vocab = values["model"]["vocab"]
    vocab |= {f"word{number}": number for number in range(len(vocab), vocab_size)}
    return Tokenizer(BytePairTokenizer.from_str(json.dumps(values)))


def unmasked(tokenizer: Tokenizer) -> TokenizerLike:
    """The same without a mask."""
    made: Any = copy(tokenizer)
    made.mask_id, made.special_ids = None, frozenset()
    without: TokenizerLike = made
    return without


class Stranger:
    """A network of none of our modules: RMSNorm, SwiGLU, causal, an output matrix of its own.

    No biases, no positions, no mask; the smallest of the Llama kind (Touvron et al. 2023).
    """

    D, D_FF, HEADS, BLOCKS, LONGEST = 16, 24, 2, 3, 40
    EPS = 1e-5

    def __init__(self, tokenizer: Tokenizer, headless: bool = False) -> None:
        self.tokenizer = unmasked(tokenizer)
        self.headless = headless
        self.device = torch.device("cpu")
        generator = torch.Generator().manual_seed(8)

        def drawn(*shape: int) -> Tensor:
            return 0.4 * torch.randn(*shape, generator=generator)

        d, d_ff, vocab = self.D, self.D_FF, tokenizer.vocab_size
        self.embedding, self.output = drawn(vocab, d), drawn(vocab, d)
        self.qkvo = [[drawn(d, d) for _ in range(4)] for _ in range(self.BLOCKS)]
        self.up_gate_down = [
            (drawn(d_ff, d), drawn(d_ff, d), drawn(d, d_ff)) for _ in range(self.BLOCKS)
        ]
        self.gains = [1 + drawn(d) for _ in range(2 * self.BLOCKS + 1)]

    @property
    def card(self) -> Card:
        silu = ACTIVATIONS["silu"]
        return Card(
            id="stranger", label="a stranger", phi=silu, colour="#336699", gated=True, causal=True,
            has_mask=False, has_word_head=not self.headless, has_word_vectors=not self.headless,
            pre_norm=True, attention_seen=True,
        )  # fmt: skip

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.D, self.D_FF, self.BLOCKS, self.tokenizer.vocab_size, self.LONGEST)

    @property
    def fingerprint(self) -> str:
        weights = [w for block in (*self.qkvo, *self.up_gate_down) for w in block]
        return fingerprint(self.sizes, [self.embedding, self.output, *weights, *self.gains])

    @cached_property
    def input_words(self) -> WordVectors:
        return WordVectors(self.embedding)

    @property
    def head(self) -> WordHead | None:
        if self.headless:
            return None
        return WordHead(self._norm(-1), WordVectors(self.output), None, tied=False)

    def _norm(self, place: int) -> Norm:
        return Norm(self.gains[place], None, self.EPS, centred=False)

    def _normed(self, x: Tensor, place: int) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True) + self.EPS).sqrt() * self.gains[place]

    def _attend(self, block: int, x: Tensor, edits: Sequence[Edit] = ()) -> AttentionRecord:
        read = self._normed(x, 2 * block)
        q, k, v = (
            torch.unflatten(read @ w, -1, (self.HEADS, -1)).transpose(-3, -2)
            for w in self.qkvo[block][:3]
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        own = tuple(edit for edit in edits if edit.at == "heads")
        z = edited(mixed.transpose(-3, -2).flatten(-2), own, "heads")
        output = edited(z @ self.qkvo[block][3], edits, "attention")
        return AttentionRecord(read, q, k, v, output, True, own)

    def _stages(self, block: int, edits: Sequence[Edit], x: Tensor) -> GatedFeedForwardRecord:
        up, gate, down = self.up_gate_down[block]
        pre_activation, value = x @ gate.T, x @ up.T
        hidden = edited(F.silu(pre_activation) * value, edits)
        written = edited(hidden @ down.T, edits, "ffn")
        return GatedFeedForwardRecord(x, pre_activation, hidden, written, value)

    def _feed(self, block: int, edits: Sequence[Edit], middle: Tensor) -> GatedFeedForwardRecord:
        return self._stages(block, edits, self._normed(middle, 2 * block + 1))

    def _blocks(self, x: Tensor, first: int, edits: Sequence[Edit]) -> Iterator[BlockRecord]:
        for block in range(first, self.BLOCKS):
            own = edits_of(edits, block)
            x = edited(x, own, "input")
            attention = self._attend(block, x, own)
            middle = edited(x + attention.output, own, "middle")
            ffn = self._feed(block, own, middle)
            output = edited(middle + ffn.output, own, "output")
            yield BlockRecord(x, attention, middle, ffn, output)
            x = output

    def walk(self, ids: Tensor) -> Iterator[BlockRecord]:
        return self._blocks(self.embedding[ids], 0, ())

    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        for number, record in enumerate(self.walk(ids)):
            if number in blocks:
                see(record.ffn.hidden)

    def run(self, ids: Tensor, edits: Edits = (), hold: Hold = ()) -> StreamTrace:
        embedding, n = self.embedding[ids], ids.shape[-1]
        edits = [edit.settled(self.sizes, n, self.head_shape) for edit in all_of(edits)]
        blocks = [
            BlockTrace(
                record.input, record.middle, record.output,
                LazyValue(partial(self._attend, block, record.input, edits_of(edits, block))),
                LazyValue(partial(self._feed, block, edits_of(edits, block), record.middle)),
            )
            for block, record in enumerate(self._blocks(embedding, 0, edits))
        ]  # fmt: skip
        for number in what_to_hold(hold, self.BLOCKS)[0]:
            blocks[number].ffn_stages.get()
        final = self._normed(blocks[-1].output, -1)
        return StreamTrace(ids, embedding, tuple(blocks), final, self._unembed)

    def _unembed(self, rows: Tensor) -> Tensor:
        if self.headless:
            raise NotForThisNetwork("It has no word head.")
        return rows @ self.output.T

    def trace(self, text: str, edits: Edits = (), *, hold: Hold = ()) -> Trace:
        encoding = self.tokenizer.encode(text, self.LONGEST)
        run = self.run(torch.tensor(encoding.ids), edits := all_of(edits), hold)
        return Trace(
            run.ids, run.embedding, run.blocks, run.final, run.unembed,
            text=text, tokens=encoding.tokens, n_left_out=encoding.n_left_out, network=self,
            edits=edits,
        )  # fmt: skip

    def traces(
        self,
        texts: Iterable[str],
        edits: Edits = (),
        batch: int = BATCH,  # noqa: ARG002
    ) -> Iterator[Trace]:
        return (self.trace(text, edits) for text in texts)

    def heads(self, block: int) -> AttentionView:
        return AttentionView(torch.unflatten(self.qkvo[block][3], 0, (self.HEADS, -1)), None)

    def head_shape(self, block: int) -> tuple[int, int]:  # noqa: ARG002, as all have the same
        return self.HEADS, self.D // self.HEADS

    def ffn(self, block: int) -> FfnView:
        up, gate, down = self.up_gate_down[block]
        stages: Callable[[Tensor], GatedFeedForwardRecord] = partial(self._stages, block, ())
        norm = self._norm(2 * block + 1)
        return FfnView(
            keys=gate, key_bias=None, values=down.T, output_bias=None, gated_value=up,
            gated_value_bias=None, phi=self.card.phi, norm=norm, word_norm=norm, stages=stages,
        )  # fmt: skip

    def logits(self, rows: Tensor) -> Tensor:
        return self._unembed(self._normed(rows, -1))

    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        return {"word": trace.embedding[token]}

    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        x = trace.blocks[block].middle + output
        for record in self._blocks(x, block + 1, ()):
            x = record.output
        return x
