"""A proved network of somebody else, seen through the same protocol as ours."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.arguments import check_ids, check_text
from ffnviz.models.batches import BATCH, traces
from ffnviz.models.card import Card, Provenance, Sizes
from ffnviz.models.edit import Edit, edits_of
from ffnviz.models.external import views
from ffnviz.models.external.compare import error, rows
from ffnviz.models.external.hooks import (
    Recording,
    SeenBlock,
    install,
    passed,
    record,
    row_of,
    unwatched,
)
from ffnviz.models.external.hooks import there as there_or_fail
from ffnviz.models.external.memory import check_room
from ffnviz.models.external.proof import Proof
from ffnviz.models.external.stream_roles import POST, PRE
from ffnviz.models.external.tail import AT_ONCE, result_of, tail
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.external.tracing import (
    AttentionPass,
    RecordedPass,
    as_kept,
    attention_stages,
    block_trace,
)
from ffnviz.models.fingerprint import fingerprint
from ffnviz.models.index_registry import index_for
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import BlockTrace, ForwardPass, StreamTrace, Trace, TraceSlice
from ffnviz.models.views import FfnView, WordHead, WordVectors


@dataclass(frozen=True, eq=False)
class ExternalNetwork:
    """A network that transformers made and whose equations are proved; a Network.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer)  # or ffnviz.load("gpt2")
        >>> model.sizes.d_model, model.sizes.d_ff
        (32, 128)
        >>> max(model.proof.errors.values()) < 1e-4  # of the worst block, relative
        True
        >>> model.trace("the cat sat").logits.shape
        torch.Size([3, 14])
    """

    name: str  # what a link calls it
    label: str  # what a page calls it
    colour: str  # on pages
    # the network itself, unmodified but for hooks that look on
    model: nn.Module = field(repr=False)
    tokenizer: ExternalTokenizer  # text to ids and spans, and back
    proof: Proof = field(repr=False)  # what was proved of it
    probe: Tensor = field(repr=False)  # the ids it was proved on, (B, T)
    max_tokens: int  # the longest text that is read
    about: str = ""  # in a line, where it comes from and how it was loaded

    def __post_init__(self) -> None:
        install(self.proof)
        object.__setattr__(self, "_view", lru_cache(maxsize=2)(self._new_view))

    @cached_property
    def card(self) -> Card:
        """What it is, as far as its proof says."""
        head, first = self.head, self.proof.blocks[0]
        index = index_for(self)
        streams = [proved.stream for proved in self.proof.blocks]
        return Card(
            id=self.name,
            label=self.label,
            phi=self.ffn(0).phi,
            colour=self.colour,
            gated=first.ffn.gated,
            causal=self.proof.causal,
            has_mask=self.tokenizer.mask_id is not None and not self.proof.causal,
            has_word_head=head is not None,
            has_word_vectors=head is not None and head.words is not None,
            pre_norm=all(s.kind != POST and s.written_norm is None for s in streams),
            attention_seen=all(p.attention and p.attention.heads for p in self.proof.blocks),
            in_order={s.kind for s in streams} in ({PRE}, {POST})
            and all(s.written_norm is None for s in streams),
            provenance=None if index is None else Provenance(index=index),
            proof=(self.about, *self.proof.in_words),
        )

    @cached_property
    def sizes(self) -> Sizes:
        """How large it is."""
        first = self.proof.blocks[0]
        return Sizes(
            d_model=self.proof.last.shape[-1],
            d_ff=first.ffn.d_ff,
            n_blocks=len(self.proof.blocks),
            vocab_size=self.tokenizer.vocab_size,
            max_tokens=self.max_tokens,
            n_parameters=sum(weight.numel() for weight in self.model.parameters()),
        )

    @cached_property
    def fingerprint(self) -> str:
        """Of its weights; see model/fingerprint.py."""
        return fingerprint(self.sizes, self.model.state_dict().values())

    @cached_property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @cached_property
    def input_words(self) -> WordVectors:
        """The vectors that words enter the stream with, (vocab_size, d_model).

        Raises:
            NotForThisNetwork: if they are of another width than the stream.
        """
        words = views.input_words(self.model, self.proof, self.probe, self.sizes.d_model)
        if words is None:
            raise NotForThisNetwork(
                f"Not for {self.label}: its words have vectors of another width than its stream."
            )
        return words

    @cached_property
    def head(self) -> WordHead | None:
        """How the last stream becomes a score a word; None without a word head."""
        with unwatched():
            return views.word_head(self.model, self.proof)

    def ffn(self, block: int) -> FfnView:
        """One block's FFN, by its place from 0."""
        view: FfnView = self._view(block)  # type: ignore[attr-defined]
        return view

    def _new_view(self, block: int) -> FfnView:
        return views.ffn_view(self.proof.blocks[block], self.sizes.d_model)

    @torch.inference_mode()
    def trace(self, text: str, edits: Sequence[Edit] = (), look_at: int | None = None) -> Trace:
        """What it computes for a text of at most max_tokens tokens; see Model.trace.

        Raises:
            TypeError: if the text is no str.
            ValueError: if the text is empty, or an edit is to change what is not there.
        """
        check_text(text)
        encoding = self.tokenizer.encode(text, self.max_tokens)
        if not encoding.tokens:
            raise ValueError("The text is empty: there is nothing to trace.")
        ids = torch.tensor(encoding.ids, device=self.device)
        run = self.run(ids, edits, () if look_at is None else (look_at,))
        return Trace(
            run.ids, run.embedding, run.blocks, run.final, run.unembed,
            text=text, tokens=encoding.tokens, n_left_out=encoding.n_left_out,
            network=self, edits=tuple(edits),
        )  # fmt: skip

    def traces(
        self, texts: Iterable[str], edits: Sequence[Edit] = (), batch: int = BATCH
    ) -> Iterator[Trace]:
        """The traces of many texts, in their order, `batch` of them read at a time.

        See Model.traces. Texts of one length alone are read together where the network does not
        leave padding out, which was tried on its probe.
        """
        return traces(self, self._rows, texts, edits, batch, self._pads)

    @cached_property
    def _pads(self) -> bool:
        """Whether a text with padding behind it, and masked, has the stream that it has alone."""
        n = self.probe.shape[1] // 2
        there = torch.ones_like(self.probe, dtype=torch.bool)
        there[1, n:] = False
        try:
            padded = there_or_fail(self._seen(self.probe, there=there)[-1].output)
        except Exception:  # each network's code raises what it likes
            return False
        alone = there_or_fail(self._seen(self.probe[1:, :n])[-1].output)
        return error(padded[1:, :n], alone) <= self.proof.tolerance

    @torch.inference_mode()
    def _rows(
        self, ids: Tensor, there: Tensor | None, edits: Sequence[Edit]
    ) -> Iterator[StreamTrace]:
        check_room(self.sizes, ids.numel(), self.device)
        seen = self._seen(ids, edits, there=there)
        lengths = [ids.shape[1]] * len(ids) if there is None else there.sum(1).tolist()
        for row, n in enumerate(lengths):
            yield self._traced(ids[row, :n], row_of(seen, row, n), edits)

    def run(
        self, ids: Tensor, edits: Sequence[Edit] = (), hold: Collection[int] = ()
    ) -> StreamTrace:
        """The same for ids, (*batch, T); the stages of the blocks in `hold` are kept.

        Raises:
            TypeError: if the ids are no tensor of whole numbers.
            ValueError: if there are no tokens, or more than max_tokens, or one that is not in the
                vocabulary; if an edit is to change what is not there.
        """
        words: Any = self.model
        check_ids(ids, len(words.get_input_embeddings().weight))
        check_room(self.sizes, ids.numel(), self.device)
        return self._traced(ids, self._seen(ids, edits, hold), edits)

    def _traced(self, ids: Tensor, seen: list[SeenBlock], edits: Sequence[Edit]) -> StreamTrace:
        blocks, own = list[BlockTrace](), self._as_written(edits)
        for number, each in enumerate(seen):
            # What one block writes the next one reads: it is kept once.
            same = blocks and each.input is seen[number - 1].output
            before = blocks[-1].output if same else as_kept(each.input, ids.shape)
            proved = self.proof.blocks[number]
            recorded = RecordedPass(proved, each, edits_of(own, number), ids.shape)
            again = AttentionPass(proved, number, ids, own, self.proof.causal)
            heads = partial(attention_stages, self.model, again, self.label)
            blocks.append(block_trace(recorded, before, heads))
        return StreamTrace(ids, blocks[0].input, tuple(blocks), blocks[-1].output, self.logits)

    def _as_written(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits in units of what the modules write, which may be multiplied afterwards.

        Raises:
            NotForThisNetwork: for one of the attention's output, where no one module writes that.
        """
        own = []
        for edit in edits:
            proved = self.proof.blocks[edit.block]
            r = 1.0
            if edit.at == "ffn" and not proved.stream.written_norm:
                r = proved.stream.multiplier
            if edit.at == "attention":
                if proved.attention is None:
                    raise NotForThisNetwork(
                        f"Not for {self.label}: no one module writes what its attention adds to "
                        "the stream, so that cannot be edited."
                    )
                r = proved.attention.multiplier
            own.append(edit.in_units_of(r))
        return tuple(own)

    def _seen(
        self,
        ids: Tensor,
        edits: Sequence[Edit] = (),
        hold: Collection[int] = (),
        write: Mapping[int, Tensor] | None = None,
        there: Tensor | None = None,
    ) -> list[SeenBlock]:
        n_tokens, sizes = self._checked(ids), self.sizes
        for edit in edits:
            edit.check(sizes.n_blocks, sizes.d_ff, n_tokens, sizes.d_model)
        batch = ids.reshape(-1, n_tokens)
        recording = Recording(
            (len(batch), n_tokens), self._as_written(edits), hold, write or {},
            chained=self.proof.errors["E4"] == 0,
        )  # fmt: skip
        record(self.model, batch, recording, there)
        return recording.blocks

    def _checked(self, ids: Tensor) -> int:
        n_tokens = ids.shape[-1]
        if not 0 < n_tokens <= self.max_tokens:
            raise ValueError(f"{n_tokens} tokens: there must be 1 to {self.max_tokens}.")
        return n_tokens

    def logits_with_gradients(self, ids: Tensor, edits: Sequence[Edit] = ()) -> Tensor:
        """The logits of a pass, (*batch, T, vocab_size), through which gradients reach edits.

        Raises:
            NotForThisNetwork: without a word head.
        """
        if self.head is None:
            raise NotForThisNetwork(f"Not for {self.label}: it has no word head.")
        with torch.inference_mode(False), torch.enable_grad():
            batch = ids.clone().reshape(-1, self._checked(ids))
            recording = Recording(
                (len(batch), batch.shape[1]), self._as_written(edits), to_the_end=True
            )
            logits = result_of(passed(self.model, batch, recording, {}))
            return views.plain(logits).reshape(*ids.shape, -1)

    def walk(self, ids: Tensor) -> Iterator[BlockTrace]:
        """The blocks' stages for ids, (*batch, T), one block after the other, none kept."""
        blocks = list(self.run(ids).blocks)
        while blocks:
            yield blocks.pop(0)

    @torch.inference_mode()
    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        """Have `see` look at some blocks' hidden values, (*batch, T, d_ff) each, in their order.

        They are what the last layer of each FFN reads, the tensor that E1 and E2 were proved of.
        They are shown while the pass over ids, (*batch, T), makes them, and are not to be written
        to or kept. Nothing behind the last of them is computed.
        """
        left = set(blocks)

        def show(number: int, hidden: Tensor) -> None:
            left.remove(number)
            see(views.plain(hidden).reshape(*ids.shape, hidden.shape[-1]))

        batch = ids.reshape(-1, self._checked(ids))
        shown = {number: partial(show, number) for number in blocks}
        record(self.model, batch, Recording((len(batch), batch.shape[1]), show=shown))
        if left:
            raise RuntimeError("a proved module did not run")

    @torch.inference_mode()
    def logits(self, rows_: Tensor) -> Tensor:
        """Rows of the stream read as if it were the last, (…, d_model) -> (…, vocab_size).

        By the network's own norm, head, caps and scales.

        Raises:
            NotForThisNetwork: without a word head.
        """
        if self.head is None:
            raise NotForThisNetwork(f"Not for {self.label}: it has no word head.")
        dtype = self.proof.last.dtype
        flat = rows(rows_).to(dtype)
        size = max(1, AT_ONCE // self.sizes.vocab_size)
        with unwatched():
            parts = [
                views.plain(tail(self.model, self.proof.blocks, part, self.device))
                for part in torch.split(flat, size)
            ]
        return torch.cat(parts).reshape(*rows_.shape[:-1], -1)

    @torch.inference_mode()
    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        """The word's vector and what else its embedding is made of, (d_model,) each."""
        whole = trace.embedding[token]
        try:
            word = self.input_words.vectors[trace.ids[token]]
        except NotForThisNetwork:
            return {"embedding": whole}
        rest = whole - word
        return {"word": word} | ({"position": rest} if bool(rest.abs().max() > 1e-6) else {})

    @torch.inference_mode()
    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        """The last stream, (T, d_model), had one block's FFN written `output`, (T, d_model).

        The network itself does all the rest, from that layer on. Of a part of a trace, the FFN
        writes for all other tokens what it wrote there.
        """
        if isinstance(trace, TraceSlice):
            kept = slice(trace.first, trace.first + len(output))
            everywhere = trace.whole.blocks[block].ffn.output.clone()
            everywhere[kept] = output.to(everywhere)
            return self.stream_with(trace.whole, block, everywhere)[kept]
        stream = self.proof.blocks[block].stream
        written = output if stream.written_norm else output / stream.multiplier
        last = self._seen(trace.ids, write={block: written})[-1].output
        return views.plain(there_or_fail(last)).reshape(output.shape)
