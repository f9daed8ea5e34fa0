"""A proved external network, behind the same protocol as our own."""

import copy
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ffnviz.models.arguments import (
    at_most,
    blocks_of,
    checked_ids,
    place_of,
    rows_for,
    rows_of_width,
)
from ffnviz.models.batches import ReadsTexts
from ffnviz.models.card import Card, Provenance, Sizes
from ffnviz.models.edit import Edit, Edits, all_of, edits_of
from ffnviz.models.external import hooks, tracing, views
from ffnviz.models.external.compare import error, wide
from ffnviz.models.external.compare import rows as as_rows
from ffnviz.models.external.loading import check_mode, check_weights
from ffnviz.models.external.memory import check_memory
from ffnviz.models.external.proof import AT_ONCE, Proof, prove, result_of, tail
from ffnviz.models.external.refusal import NotProvedError, Refused, refused_as
from ffnviz.models.external.roles import PARALLEL, POST, PRE
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.fingerprint import fingerprint, index_for
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.token_slice import TraceSlice
from ffnviz.models.trace import BlockTrace, ForwardPass, SharedValues, StreamTrace
from ffnviz.models.views import AttentionView, FfnView, WordHead, WordVectors
from ffnviz.models.weights import WeightsWatch, as_then

T = TypeVar("T")
_PROVING = Lock()  # one for all: a network that is copied cannot take a lock along
SOME = 2  # tokens on which it is seen whether a network writes over its own values
OF_WEIGHTS = ("card", "fingerprint", "input_words", "head", "_ignores_padding", "_ffn_view")


@at_most(5)
@dataclass(frozen=True, eq=False)
class ExternalNetwork(ReadsTexts):
    """A Network that transformers made and whose equations are proved.

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
    model: nn.Module = field(repr=False)  # the network itself, unmodified but for hooks
    tokenizer: ExternalTokenizer  # text to ids and spans, and back
    proof: Proof = field(repr=False)
    probe: Tensor = field(repr=False)  # the ids it was proved on, (B, T)
    max_tokens: int  # of the longest text that it reads
    about: str = ""  # in a line, where it comes from and how it was loaded

    _watch: WeightsWatch = field(init=False, repr=False)
    _state: int = field(init=False, repr=False)  # of the weights that were proved

    def __post_init__(self) -> None:
        hooks.install(self.proof)
        watch = WeightsWatch(self.model)
        vars(self).update(_watch=watch, _state=watch.state())

    def __deepcopy__(self, memo: dict[int, Any]) -> "ExternalNetwork":
        model = copy.deepcopy(self.model, memo)
        hooks.remove_copied(model)
        proof, probe = copy.deepcopy(self.proof, memo), copy.deepcopy(self.probe, memo)
        return replace(self, model=model, proof=proof, probe=probe)

    def _checked(self) -> int:
        """The state of its weights; if they changed since it was proved, it is proved anew."""
        with refused_as(self.label):
            check_mode(self._watch.in_training)
        if (state := self._watch.state()) == self._state:
            return state
        with _PROVING:
            if self._watch.state() != self._state:
                self._prove_again()
        return self._state

    def _prove_again(self) -> None:
        with refused_as(self.label):
            check_weights(self.model)
            probe = self.probe.to(next(self.model.parameters()).device)
            apart = (probe[0] != probe[1]).nonzero()
            try:
                proof = prove(self.model, probe, int(apart[0]) if len(apart) else 0)
            except NotProvedError as error:
                raise Refused(
                    f"it has changed since it was opened, and can no longer be watched. {error}"
                ) from error
        hooks.install(proof)
        for name in OF_WEIGHTS:
            vars(self).pop(name, None)
        watch = WeightsWatch(self.model)
        vars(self).update(probe=probe, proof=proof, _watch=watch, _state=watch.state())

    def _of_weights(self, name: str, compute: Callable[[], T]) -> T:
        """What follows from the weights as they are, computed once for them."""
        self._checked()
        if name not in vars(self):
            vars(self)[name] = compute()
        value: T = vars(self)[name]
        return value

    @cached_property
    def card(self) -> Card:
        """What it is, as far as its proof says."""
        head, index = self.head, index_for(self)
        streams = [proved.stream for proved in self.proof.blocks]
        kinds = {stream.kind for stream in streams}
        sandwich = any(stream.written_norm for stream in streams)
        adds_up = not sandwich and not any(stream.goes_on for stream in streams)
        return Card(
            id=self.name,
            label=self.label,
            phi=self.ffn(0).phi,
            colour=self.colour,
            gated=self.proof.blocks[0].ffn.gated,
            causal=self.proof.causal,
            has_mask=self.tokenizer.mask_id is not None and not self.proof.causal,
            has_word_head=head is not None,
            has_word_vectors=head is not None and head.words is not None,
            pre_norm=POST not in kinds and adds_up,
            attention_seen=all(p.attention and p.attention.heads for p in self.proof.blocks),
            in_order=kinds in ({PRE}, {POST}) and adds_up,
            also_adds=next((stream.other_name for stream in streams if stream.other), ""),
            scales=any(stream.scale != 1 for stream in streams),
            provenance=None if index is None else Provenance(index=index),
            proof=(self.about, *self.proof.in_words),
        )

    @cached_property
    def sizes(self) -> Sizes:
        """How large it is."""
        return Sizes(
            d_model=self.proof.last.shape[-1],
            d_ff=self.proof.blocks[0].ffn.d_ff,
            n_blocks=len(self.proof.blocks),
            vocab_size=self.tokenizer.vocab_size,
            max_tokens=self.max_tokens,
            n_parameters=sum(weight.numel() for weight in self.model.parameters()),
            streams_per_block=3 if any(p.stream.goes_on for p in self.proof.blocks) else 2,
        )

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that follow from its weights alone; see models/fingerprint.py."""
        weights = self.model.state_dict().values
        return self._of_weights("fingerprint", lambda: fingerprint(self.sizes, weights()))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def input_words(self) -> WordVectors:
        """The vectors that words enter the stream with, (vocab_size, d_model).

        Raises:
            NotForThisNetwork: if their width is not the stream's.
        """
        words = self._of_weights(
            "input_words",
            lambda: views.input_words(self.model, self.proof, self.probe, self.sizes.d_model),
        )
        if words is None:
            raise NotForThisNetwork(
                f"Not for {self.label}: its word vectors and its stream differ in width."
            )
        return words

    @property
    def head(self) -> WordHead | None:
        """How the last stream becomes a score for each word; None without a word head."""
        return self._of_weights("head", lambda: views.word_head(self.model, self.proof))

    def ffn(self, block: int) -> FfnView:
        """One block's FFN, by its place from 0; −1 is the last.

        Raises:
            ValueError: if there is no such block.
        """
        number = place_of("block", block, self.sizes.n_blocks)
        return self._of_weights("_ffn_view", self._views)(number)

    def _views(self) -> Callable[[int], FfnView]:
        # Two at most, which may be copies; not of `self`, whose copy would then see the original's.
        blocks, d_model = self.proof.blocks, self.sizes.d_model
        return lru_cache(maxsize=2)(lambda number: views.ffn_view(blocks[number], d_model))

    def heads(self, block: int) -> AttentionView:
        """One block's attention heads, by its place from 0; −1 is the last.

        Raises:
            ValueError: if there is no such block.
            NotForThisNetwork: if what they do cannot be seen.
        """
        self._checked()
        attention = self.proof.blocks[place_of("block", block, self.sizes.n_blocks)].attention
        if attention is None or attention.heads is None:
            raise NotForThisNetwork(f"Not for {self.label}: {tracing.UNSEEN}")
        return views.attention_view(attention.heads, attention.multiplier)

    @cached_property
    def _ignores_padding(self) -> bool:
        """Whether a text with masked padding behind it has the stream that it has alone."""
        n = self.probe.shape[1] // 2
        mask = torch.ones_like(self.probe, dtype=torch.bool)
        mask[1, n:] = False
        try:
            padded = hooks.recorded(self._recorded(self.probe, mask=mask)[-1].output)
        except Exception:  # each network's code raises what it likes
            return False
        alone = hooks.recorded(self._recorded(self.probe[1:, :n])[-1].output)
        return error(padded[1:, :n], alone) <= self.proof.tolerance

    @torch.no_grad()
    def _rows(
        self, ids: Tensor, mask: Tensor | None, edits: Sequence[Edit]
    ) -> Iterator[StreamTrace]:
        state = self._checked()
        check_memory(self.sizes, ids.numel(), self.device)
        blocks = self._recorded(ids, edits, mask)
        mask = torch.ones_like(ids) if mask is None else mask
        for row, n in enumerate(mask.sum(1).tolist()):
            yield self._traced(ids[row, :n], hooks.row_of(blocks, row, n), edits, state)

    def _pass(
        self, ids: Tensor, edits: Edits, ffns: Set[int], heads: bool, state: int
    ) -> StreamTrace:
        check_memory(self.sizes, ids.numel(), self.device)
        edits = self._settled(edits, ids)
        blocks = self._recorded(ids, edits, hold=ffns, heads=self._seen_heads if heads else ())
        return self._traced(ids, blocks, edits, state, heads)

    def _settled(self, edits: Edits, ids: Tensor) -> tuple[Edit, ...]:
        n = ids.shape[-1]
        return tuple(each.settled(self.sizes, n, self.head_shape) for each in all_of(edits))

    @property
    def _seen_heads(self) -> tuple[int, ...]:
        blocks = enumerate(self.proof.blocks)
        return tuple(place for place, p in blocks if p.attention and p.attention.heads)

    def _traced(
        self,
        ids: Tensor,
        recorded_blocks: list[hooks.RecordedBlock],
        edits: Sequence[Edit],
        state: int,
        heads: bool = False,
    ) -> StreamTrace:
        guard = partial(as_then, self._watch, state)

        def heads_again() -> list[tracing.SeenHeads | None]:
            """All blocks' heads, from a second pass with the same edits."""
            passed = self._recorded(ids, edits, heads=self._seen_heads, heads_alone=True)
            return tracing.seen_heads(self.proof, passed)

        held = tracing.seen_heads(self.proof, recorded_blocks) if heads else ()
        source = SharedValues(guard(heads_again), held)
        attention = tracing.attention_of(self.proof, self.label, source, ids.shape, edits)
        blocks, written = list[BlockTrace](), self._as_written(edits)
        for number, block in enumerate(recorded_blocks):
            # What one block writes the next one reads: it is kept once.
            same = blocks and block.input is recorded_blocks[number - 1].output
            before = blocks[-1].output if same else views.in_shape(block.input, ids.shape)
            proved, own = self.proof.blocks[number], edits_of(written, number)
            blocks.append(tracing.block_trace(proved, block, own, before, attention[number], guard))
        embedding = views.in_shape(recorded_blocks[0].read, ids.shape)
        unembed = guard(self.logits)
        return StreamTrace(ids, embedding, tuple(blocks), blocks[-1].output, unembed)

    def _as_written(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits in units of what the modules write, which may be multiplied afterwards."""
        return tuple(edit.in_units_of(self._multiplier(edit)) for edit in edits)

    def _multiplier(self, edit: Edit) -> float:
        proved = self.proof.blocks[edit.block]
        if edit.at == "ffn":
            return proved.ffn_multiplier
        if edit.at == "middle" and proved.stream.kind == PARALLEL:
            raise NotForThisNetwork(
                f"Not for {self.label}: its attention and FFN read one stream side by side, so "
                "there is no stream between them."
            )
        norm = edit.at == "middle" and proved.edits_middle_norm
        if edit.at not in ("attention", "middle") or norm:
            return 1.0
        if proved.attention is None:
            raise NotForThisNetwork(
                f"Not for {self.label}: no single module writes what its attention adds to the "
                "stream, so what it adds cannot be edited."
            )
        return proved.attention.multiplier if edit.at == "attention" else 1.0

    def _recorded(
        self, ids: Tensor, edits: Sequence[Edit] = (), mask: Tensor | None = None, **asked: Any
    ) -> list[hooks.RecordedBlock]:
        """What was recorded of a pass; a Recording says what else can be asked for."""
        batch, written = self._batched(ids), self._as_written(edits)
        chained = self.proof.errors["E4"] == 0
        while True:  # twice at most: of copies, none is overwritten
            recording = hooks.Recording(
                batch, written, chained=chained, copies=self._overwrites, **asked
            )
            with torch.no_grad():
                hooks.record(self.model, recording, mask)
            if not recording.overwritten:
                return recording.blocks
            vars(self)["_overwrites"] = True

    @cached_property
    def _overwrites(self) -> bool:
        """Whether it writes over what it computed before, in the same pass or in the next."""
        blocks, heads = range(len(self.proof.blocks)), self._seen_heads

        def passed(ids: Tensor, copies: bool) -> list[hooks.RecordedBlock]:
            recording = hooks.Recording(ids, hold=blocks, heads=heads, copies=copies)
            with torch.no_grad():
                hooks.record(self.model, recording)
            return recording.blocks

        first, last = self.probe[:1, :SOME], self.probe[1:, -SOME:]
        copied, kept = passed(first, copies=True), passed(first, copies=False)
        passed(last, copies=False)
        return not all(map(hooks.RecordedBlock.equals, copied, kept))

    def _batched(self, ids: Tensor) -> Tensor:
        n_tokens = ids.shape[-1]
        if not 0 < n_tokens <= self.max_tokens:
            raise ValueError(f"{n_tokens} tokens: there must be 1 to {self.max_tokens}.")
        return ids.reshape(-1, n_tokens)

    def logits_with_gradients(self, ids: Tensor, edits: Edits = ()) -> Tensor:
        """The logits of a pass, (*batch, T, vocab_size), through which gradients reach edits.

        Raises:
            NotForThisNetwork: without a word head.
        """
        if self.head is None:
            raise NotForThisNetwork(f"Not for {self.label}: it has no word head.")
        ids = checked_ids(ids, self.sizes.vocab_size)
        settled = self._settled(edits, ids)
        with torch.inference_mode(False), torch.enable_grad():
            batch = self._batched(ids.clone())
            recording = hooks.Recording(batch, self._as_written(settled), to_the_end=True)
            logits = result_of(hooks.record(self.model, recording))
            return views.in_shape(logits, ids.shape)

    def walk(self, ids: Tensor) -> Iterator[BlockTrace]:
        """The blocks' stages for ids, (*batch, T), one block after the other, none kept."""
        blocks = list(self.run(ids).blocks)
        while blocks:
            yield blocks.pop(0)

    @torch.no_grad()
    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        """Have `see` look at some blocks' hidden values, (*batch, T, d_ff) each, in their order.

        They are what the last layer of each FFN reads, the tensor that E1 and E2 were proved for.
        They are shown while the pass over ids, (*batch, T), computes them, and are not to be
        written to or kept. Nothing behind the last of them is computed.
        """
        self._checked()
        ids = checked_ids(ids, self.sizes.vocab_size)
        blocks = blocks_of(blocks, self.sizes.n_blocks)
        if not blocks:
            return
        remaining = set(blocks)

        def show(number: int, hidden: Tensor) -> None:
            remaining.remove(number)
            see(views.in_shape(hidden, ids.shape))

        shown = {number: partial(show, number) for number in blocks}
        hooks.record(self.model, hooks.Recording(self._batched(ids), show=shown))
        if remaining:
            raise RuntimeError("a tested module did not run")

    @torch.no_grad()
    def logits(self, rows: Tensor) -> Tensor:
        """Rows of the stream read as if it were the last, (…, d_model) -> (…, vocab_size).

        They pass the network's own norm, head, caps and scales.

        Raises:
            NotForThisNetwork: without a word head.
        """
        if self.head is None:
            raise NotForThisNetwork(f"Not for {self.label}: it has no word head.")
        rows = rows_of_width(rows, self.sizes.d_model)
        stream = as_rows(rows).to(self.proof.last.dtype)
        parts = torch.split(stream, max(1, AT_ONCE // self.sizes.vocab_size))
        with hooks.unrecorded():
            made = [wide(tail(self.model, part)) for part in parts]
        logits = made[0] if len(made) == 1 else torch.cat(made)  # a copy of them would take long
        return logits.reshape(*rows.shape[:-1], -1)

    @torch.no_grad()
    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        """The word's vector and what else its embedding is made of, (d_model,) each."""
        whole = trace.embedding[place_of("token", token, trace.ids.shape[-1])]
        try:
            word = self.input_words.vectors[trace.ids[token]]
        except NotForThisNetwork:
            return {"embedding": whole}
        rest = whole - word
        return {"word": word} | ({"position": rest} if bool(rest.abs().max() > 1e-6) else {})

    @torch.no_grad()
    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        """The last stream, (T, d_model), had one block's FFN written `output`, (T, d_model).

        The network itself computes all that follows. For the tokens outside of a slice of a trace,
        the FFN writes what it wrote in the whole trace.
        """
        block = place_of("block", block, self.sizes.n_blocks)
        output = rows_for(output, trace.ids, self.sizes.d_model)
        if isinstance(trace, TraceSlice):
            kept = slice(trace.first, trace.first + len(output))
            everywhere = trace.whole.blocks[block].ffn.output.clone()
            everywhere[kept] = output.to(everywhere)
            return self.stream_with(trace.whole, block, everywhere)[kept]
        self._checked()
        written = output / self.proof.blocks[block].ffn_multiplier
        last = self._recorded(trace.ids, write={block: written})[-1].output
        return wide(hooks.recorded(last)).reshape(output.shape)
