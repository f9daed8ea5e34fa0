"""A trained encoder with its tokenizer: what `ffnviz.load` returns for networks of ours."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import torch
from torch import Tensor, nn

from ffnviz.models.arguments import check_ids, check_text
from ffnviz.models.assets import ASSETS
from ffnviz.models.batches import BATCH, traces
from ffnviz.models.card import Card, Sizes
from ffnviz.models.device import usable_device
from ffnviz.models.edit import Edit, edits_of
from ffnviz.models.encoder.batch_pass import batch_pass, block_trace
from ffnviz.models.encoder.block import BlockRecord
from ffnviz.models.encoder.encoder import Encoder, EncoderTrace
from ffnviz.models.encoder.folder import read_folder
from ffnviz.models.encoder.model_views import ffn_view, model_card, norm_view, provenance_of
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.fingerprint import fingerprint
from ffnviz.models.index_registry import index_for
from ffnviz.models.trace import ForwardPass, StreamTrace, Trace
from ffnviz.models.views import FfnView, WordHead, WordVectors

MODELS = ASSETS / "models"
TWINS = ("relu", "gelu")


@dataclass(frozen=True)
class Model:
    """A trained encoder, ready for inference; a Network. Its weights never change.

    Attributes:
        name: the twin, or the folder's name.
        encoder: ids (…, T) to an EncoderTrace.
        tokenizer: text to ids and spans, and back.
        token_counts: how often each entry occurred in the training text, (vocab_size,).
        folder: where it was read from; None if it was not.

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

    @cached_property
    def card(self) -> Card:
        """What it is, and where its weights come from."""
        index = index_for(self, (ASSETS / "index" / f"{self.name}.npz",) if self._is_twin else ())
        provenance = provenance_of(self.folder, self.token_counts, index)
        return model_card(self.name, self.encoder.config, self.folder, self._is_twin, provenance)

    @property
    def _is_twin(self) -> bool:
        return self.folder is not None and self.folder.parent == MODELS

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that follow from its weights; see fingerprint.py."""
        return fingerprint(self.sizes, self.encoder.state_dict().values())

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

    @cached_property
    def input_words(self) -> WordVectors:
        """The words' embedding vectors, (vocab_size, d_model)."""
        return WordVectors(self.encoder.token_embedding.weight)

    @property
    def head(self) -> WordHead:
        """The final norm, if any, and the embedding matrix again, without a bias."""
        norm = self.encoder.final_norm
        final = norm_view(norm) if isinstance(norm, nn.LayerNorm) else None
        return WordHead(final, self.input_words, None, tied=True)

    @torch.no_grad()
    def trace(self, text: str, edits: Sequence[Edit] = (), look_at: int | None = None) -> Trace:
        """Everything the encoder computes for a text of at most max_tokens tokens.

        The stream is kept; a block's stages and the logits are computed when asked for. Of a
        longer text the first max_tokens are used; `trace.n_left_out` and `trace.left_out` say what
        was not. Edits change hidden values in the pass, and so all that is computed from them.

        Args:
            text: what to read.
            edits: changes to hidden values, made in the pass.
            look_at: a block whose FFN's stages are kept from the pass, not computed again.

        Raises:
            TypeError: if the text is no str.
            ValueError: if the text is empty, or an edit changes what does not exist.
        """
        check_text(text)
        encoding = self.tokenizer.encode(text, self.encoder.config.max_tokens)
        if not encoding.tokens:
            raise ValueError("The text is empty: there is nothing to trace.")
        run = self.run(torch.tensor(encoding.ids, device=self.device), edits, look_at)
        return Trace(
            run.ids, run.embedding, run.blocks, run.final, run.unembed,
            text=text, tokens=encoding.tokens, n_left_out=encoding.n_left_out,
            network=self, edits=tuple(edits),
        )  # fmt: skip

    @torch.no_grad()
    def run(
        self, ids: Tensor, edits: Sequence[Edit] = (), look_at: int | None = None
    ) -> StreamTrace:
        """What the encoder computes for ids, (*batch, T); see trace.

        Raises:
            TypeError: if the ids are no tensor of whole numbers.
            ValueError: if there are no tokens, or more than max_tokens, or one that is not in the
                vocabulary; if an edit changes what does not exist.
        """
        encoder = self.encoder
        check_ids(ids, encoder.config.vocab_size)
        embedding = encoder.embed(ids)
        blocks = []
        for number, record in enumerate(encoder.walk(embedding, edits=edits)):
            held = record.ffn if number == look_at else None
            stream = (record.input, record.middle, record.output)
            module, own = encoder.blocks[number], edits_of(edits, number)
            blocks.append(block_trace(module, stream, own, held))
        final = encoder.final_norm(blocks[-1].output)
        return StreamTrace(ids, embedding, tuple(blocks), final, encoder.unembed)

    def traces(
        self, texts: Iterable[str], edits: Sequence[Edit] = (), batch: int = BATCH
    ) -> Iterator[Trace]:
        """The traces of many texts, in their order, `batch` of them read at a time.

        Shorter texts of a batch are padded, and no token attends to padding: each trace is that
        of its text alone up to rounding, as more rows are added up in another order. Texts are
        asked for, and traces made, as the loop over them goes on; what is in memory is one batch
        and what you keep. A trace's stream is a view of its batch's; `save` and pickle leave the
        rest out.

        Args:
            texts: any number, also from a generator.
            edits: made in each of them.
            batch: the most texts that are read together; fewer where they are long.

        Raises:
            TypeError: if a text is no str.
            ValueError: naming the text that is empty, or in which an edit changes what does not
                exist.
        """
        return traces(self, partial(batch_pass, self.encoder), texts, edits, batch)

    def logits_with_gradients(self, ids: Tensor, edits: Sequence[Edit] = ()) -> Tensor:
        """The logits of a pass, (*batch, T, vocab_size), through which gradients reach edits."""
        with torch.inference_mode(False), torch.enable_grad():
            trace: EncoderTrace = self.encoder(ids.clone(), edits)
            return trace.logits

    def walk(self, ids: Tensor) -> Iterator[BlockRecord]:
        """The blocks' records for ids, (*batch, T), one after the other, none kept."""
        return self.encoder.walk(self.encoder.embed(ids))

    @torch.no_grad()
    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        """Show `see` some blocks' hidden values during a pass over ids; see Network."""
        last, x = max(blocks), self.encoder.embed(ids)
        for number, record in zip(range(last), self.encoder.walk(x), strict=False):
            if number in blocks:
                see(record.ffn.hidden)
            x = record.output
        see(self.encoder.blocks[last].hidden(x))

    def ffn(self, block: int) -> FfnView:
        """One block's FFN, by its place from 0; the weights themselves, not copies."""
        return ffn_view(self.encoder.blocks[block])

    @torch.no_grad()
    def logits(self, rows: Tensor) -> Tensor:
        """Rows of the stream read as if it were the last, (…, d_model) -> (…, vocab_size)."""
        return self.encoder.unembed(self.encoder.final_norm(rows))

    @torch.no_grad()
    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        """The word's vector and the position's, (d_model,) each."""
        encoder = self.encoder
        return {
            "word": encoder.token_embedding.weight[trace.ids[token]],
            "position": encoder.position_embedding.weight[token],
        }

    @torch.no_grad()
    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        """The last stream, (T, d_model), had one block's FFN written `output`, (T, d_model)."""
        x = self.encoder.blocks[block].add_ffn(trace.blocks[block].middle, output)
        for record in self.encoder.walk(x, first=block + 1):
            x = record.output
        return x


def load(name: str | Path, device: str | torch.device = "cpu") -> Model:
    """A model by the name of a twin ("relu", "gelu") or by its folder.

    Raises:
        ModelFolderError: if the folder is not a model; the message says which file and why.
        RuntimeError: in a sentence, if the device cannot be used.
    """
    usable = usable_device(device)
    folder = MODELS / name if name in TWINS else Path(name)
    encoder, tokenizer, token_counts = read_folder(folder)
    return Model(folder.name, encoder.to(usable), tokenizer, token_counts, folder)
