"""A trained encoder with its tokenizer: what `ffnviz.load` returns for networks of ours."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.arguments import at_most, blocks_of, checked_ids, place_of, rows_for, rows_like
from ffnviz.models.batches import ReadsTexts
from ffnviz.models.card import Card, Provenance, Sizes, seed_in
from ffnviz.models.config import ASSETS
from ffnviz.models.device import usable_device
from ffnviz.models.edit import Edit, Edits, edits_of
from ffnviz.models.encoder.attention import AttentionStages
from ffnviz.models.encoder.block import Block, BlockRecord
from ffnviz.models.encoder.encoder import Encoder, EncoderTrace
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForward
from ffnviz.models.encoder.folder import TRAINING, read_folder
from ffnviz.models.encoder.linear import linear
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.fingerprint import fingerprint, index_for
from ffnviz.models.learned import is_learned
from ffnviz.models.trace import BlockTrace, ForwardPass, LazyValue, StreamTrace
from ffnviz.models.views import AttentionView, FfnView, Norm, WordHead, WordVectors
from ffnviz.models.weights import WeightsWatch, as_then

T = TypeVar("T")


def ffn_view(block: Block) -> FfnView:
    """A block's FFN: the weights themselves, not copies."""
    ffn = block.ffn
    gated = ffn.gated_value if isinstance(ffn, GatedFeedForward) else None
    norm = norm_view(block.ffn_norm) if block.norm_first else None
    return FfnView(
        keys=ffn.expand.weight,
        key_bias=ffn.expand.bias,
        values=ffn.compress.weight.mT,
        output_bias=ffn.compress.bias,
        gated_value=None if gated is None else gated.weight,
        gated_value_bias=None if gated is None else gated.bias,
        phi=ffn.activation,
        norm=norm,
        # In a post-LN block the stream before the FFN is the attention's LayerNorm.
        word_norm=norm or norm_view(block.attention_norm),
        stages=ffn,
        product=linear,
    )


def norm_view(module: nn.LayerNorm) -> Norm:
    """A LayerNorm as the equation has it."""
    return Norm(module.weight, module.bias, module.eps)


def block_trace(
    block: Block,
    stream: tuple[Tensor, Tensor, Tensor],
    edits: tuple[Edit, ...],
    guard: Callable[[Callable[..., Any]], Callable[..., Any]],
    ffn_stages: FeedForwardRecord | None = None,
    attention_stages: AttentionStages | None = None,
) -> BlockTrace:
    """A block's part of a trace, of the streams before, in and after it; `guard` checks weights."""
    attend, feed = partial(block.attend, stream[0], edits), partial(block.feed, stream[1], edits)
    attention = LazyValue[AttentionStages](guard(attend), attention_stages)
    return BlockTrace(*stream, attention, LazyValue(guard(feed), ffn_stages))


MODELS = ASSETS / "models"
TWINS = ("relu", "gelu")


@at_most(5)
@dataclass(frozen=True)
class Model(ReadsTexts):
    """A trained encoder, ready for inference; a Network.

    Should its weights change, later passes have the new ones, and an earlier trace, asked for what
    it has not computed, raises a WeightsChangedError.

    Attributes:
        name: the twin, or the folder's name.
        encoder: ids (…, T) to an EncoderTrace.
        tokenizer: text to ids and spans, and back.
        token_counts: how often each entry occurred in the training text, (vocab_size,).
        folder: where it was read from; None if it was not.
        label: what pages call it; empty takes φ's for a twin, else the name.
        colour: on pages, "#rrggbb"; empty takes that of its kind of φ.

    Examples:
        >>> model = ffnviz.load("gelu")
        >>> model.trace("It was late.")
        Trace('It was late.', 4 tokens, 2 blocks)
        >>> [len(trace.tokens) for trace in model.traces(["It was late.", "It rained."])]
        [4, 4]
        >>> model.ffn(0).keys.shape  # a row a neuron
        torch.Size([2048, 512])
    """

    name: str
    encoder: Encoder
    tokenizer: Tokenizer
    token_counts: Tensor
    folder: Path | None = None
    label: str = ""
    colour: str = ""

    @cached_property
    def card(self) -> Card:
        """What it is, and where its weights come from."""
        folder, config = self.folder, self.encoder.config
        usual = [ASSETS / "index" / f"{folder.name}.npz"] if folder and self._is_twin else []
        # the training record, if the folder has one
        record = folder / TRAINING if folder and (folder / TRAINING).is_file() else None
        seed = None if record is None else seed_in(record)
        phi = ACTIVATIONS[config.activation]
        learned = folder is not None and is_learned(folder)
        colours = ("learned", "learned_other") if learned else ("relu", "gelu")
        return Card(
            id=self.name,
            label=self.label or (phi.label if self._is_twin else self.name) or phi.label,
            phi=phi,
            colour=self.colour or colours[not phi.exact_zeros],
            gated=phi.gated,
            causal=config.causal,
            has_mask=True,
            has_word_head=True,
            has_word_vectors=True,
            pre_norm=config.norm == "pre",
            attention_seen=True,
            in_order=True,
            ours=True,
            provenance=Provenance(record, seed, self.token_counts, index_for(self, usual)),
        )

    @property
    def _is_twin(self) -> bool:
        return self.folder is not None and self.folder.parent == MODELS

    @cached_property
    def _watch(self) -> WeightsWatch:
        return WeightsWatch(self.encoder)

    def _checked(self) -> int:
        """The state of its weights."""
        if self._watch.in_training and self.encoder.config.dropout:
            raise ValueError(
                f"{self.name} is in training mode, in which dropout makes each pass different. "
                "Call model.encoder.eval() first."
            )
        return self._watch.state()

    def _of_weights(self, name: str, compute: Callable[[], T]) -> T:
        """What follows from the weights as they are, computed once for them."""
        state, kept = self._watch.state(), vars(self).get(name)
        if kept is None or kept[0] != state:
            kept = vars(self)[name] = state, compute()
        value: T = kept[1]
        return value

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that follow from its weights; see fingerprint.py."""
        weights = self.encoder.state_dict().values
        return self._of_weights("fingerprint", lambda: fingerprint(self.sizes, weights()))

    @cached_property
    def sizes(self) -> Sizes:
        """How large it is."""
        c = self.encoder.config
        n_parameters = sum(weight.numel() for weight in self.encoder.parameters())
        return Sizes(c.d_model, c.d_ff, c.n_blocks, c.vocab_size, c.max_tokens, n_parameters)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.encoder.token_embedding.weight.device

    @property
    def input_words(self) -> WordVectors:
        """The words' embedding vectors, (vocab_size, d_model)."""
        weight = self.encoder.token_embedding.weight
        return self._of_weights("input_words", lambda: WordVectors(weight))

    @property
    def head(self) -> WordHead:
        """The final norm, if any, and the embedding matrix again, without a bias."""
        norm = self.encoder.final_norm
        final = norm_view(norm) if isinstance(norm, nn.LayerNorm) else None
        return WordHead(final, self.input_words, None, tied=True)

    def _pass(
        self, ids: Tensor, edits: Edits, ffns: Set[int], heads: bool, state: int
    ) -> StreamTrace:
        encoder, guard = self.encoder, partial(as_then, self._watch, state)
        embedding = encoder.embed(ids)
        settled = encoder.settled(edits, ids.shape[-1])
        blocks = []
        for number, record in enumerate(encoder.walk(embedding, edits=settled)):
            held = record.ffn if number in ffns else None
            attention = record.attention if heads else None
            stream = (record.input, record.middle, record.output)
            module, own = encoder.blocks[number], edits_of(settled, number)
            blocks.append(block_trace(module, stream, own, guard, held, attention))
        final = encoder.final_norm(blocks[-1].output)
        return StreamTrace(ids, embedding, tuple(blocks), final, guard(encoder.unembed))

    _ignores_padding = True

    @torch.no_grad()
    def _rows(
        self, ids: Tensor, mask: Tensor | None, edits: Sequence[Edit]
    ) -> Iterator[StreamTrace]:
        encoder, guard = self.encoder, partial(as_then, self._watch, self._watch.state())
        embedding = x = encoder.embed(ids)
        streams = []
        for number, module in enumerate(encoder.blocks):
            streams.append(module.stream(x, edits_of(edits, number), mask))
            x = streams[-1][-1]
        final = encoder.final_norm(x)
        lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(1).tolist()
        for row, n in enumerate(lengths):
            blocks = []
            for number, (before, middle, after) in enumerate(streams):
                stream = (before[row, :n], middle[row, :n], after[row, :n])
                own = edits_of(edits, number)
                blocks.append(block_trace(encoder.blocks[number], stream, own, guard))
            unembed = guard(encoder.unembed)
            yield StreamTrace(
                ids[row, :n], embedding[row, :n], tuple(blocks), final[row, :n], unembed
            )

    def logits_with_gradients(self, ids: Tensor, edits: Edits = ()) -> Tensor:
        """The logits of a pass, (*batch, T, vocab_size), through which gradients reach edits."""
        ids = checked_ids(ids, self.sizes.vocab_size)
        with torch.inference_mode(False), torch.enable_grad():
            trace: EncoderTrace = self.encoder(ids.clone(), edits)
            return trace.logits

    def walk(self, ids: Tensor) -> Iterator[BlockRecord]:
        """The blocks' records for ids, (*batch, T), one after the other, none kept."""
        return self.encoder.walk(self.encoder.embed(checked_ids(ids, self.sizes.vocab_size)))

    @torch.no_grad()
    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        """Show `see` some blocks' hidden values during a pass over ids; see Network."""
        blocks = blocks_of(blocks, self.sizes.n_blocks)
        if not blocks:
            return
        last, x = max(blocks), self.encoder.embed(checked_ids(ids, self.sizes.vocab_size))
        for number, record in zip(range(last), self.encoder.walk(x), strict=False):
            if number in blocks:
                see(record.ffn.hidden)
            x = record.output
        see(self.encoder.blocks[last].hidden(x))

    def ffn(self, block: int) -> FfnView:
        """One block's FFN, by its place from 0, −1 the last; the weights themselves, not copies.

        Raises:
            ValueError: if there is no such block.
        """
        return ffn_view(self.encoder.blocks[place_of("block", block, self.sizes.n_blocks)])

    def heads(self, block: int) -> AttentionView:
        """One block's attention heads, by its place from 0, −1 the last; not copies.

        Raises:
            ValueError: if there is no such block.
        """
        number = place_of("block", block, self.sizes.n_blocks)
        attention = self.encoder.blocks[number].attention
        out = attention.project_out
        outputs = torch.unflatten(out.weight.mT, 0, (attention.n_heads, -1))
        return AttentionView(outputs, out.bias)

    @torch.no_grad()
    def logits(self, rows: Tensor) -> Tensor:
        """Rows of the stream read as if it were the last, (…, d_model) -> (…, vocab_size)."""
        rows = rows_like(rows, self.encoder.token_embedding.weight)
        return self.encoder.unembed(self.encoder.final_norm(rows))

    @torch.no_grad()
    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        """The word's vector and the position's, (d_model,) each."""
        encoder, token = self.encoder, place_of("token", token, trace.ids.shape[-1])
        word = encoder.token_embedding.weight[trace.ids[token]]
        return {"word": word, "position": encoder.position_embedding.weight[token]}

    @torch.no_grad()
    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        """The last stream, (T, d_model), had one block's FFN written `output`, (T, d_model)."""
        block = place_of("block", block, self.sizes.n_blocks)
        output = rows_for(output, trace.ids, self.sizes.d_model)
        x = self.encoder.blocks[block].add_ffn(trace.blocks[block].middle, output)
        for record in self.encoder.walk(x, first=block + 1):
            x = record.output
        return x


def load(name: str | Path, device: str | torch.device = "cpu") -> Model:
    """A model by the name of a twin ("relu", "gelu") or by its folder."""
    usable = usable_device(device)
    folder = MODELS / name if name in TWINS else Path(name)
    encoder, tokenizer, token_counts = read_folder(folder)
    return Model(folder.name, encoder.to(usable), tokenizer, token_counts, folder)
