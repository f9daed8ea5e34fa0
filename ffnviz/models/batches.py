"""What every network does with texts: one is traced alone, many in batches, padded and masked."""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Protocol

import torch
from torch import Tensor

from ffnviz.models.arguments import (
    Hold,
    at_least,
    check_text,
    checked_ids,
    held_block,
    texts_of,
    what_to_hold,
)
from ffnviz.models.edit import Edit, Edits, all_of
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.network import BATCH, Network
from ffnviz.models.trace import StreamTrace, Trace, trace_of

MOST_HIDDEN = 2**26  # hidden values of one block in a batch; more texts take several batches


class _Runs(Network, Protocol):
    """A network's passes, once all that was asked for is checked."""

    def _checked(self) -> int:
        """The state of its weights, if it can compute with them."""

    def _pass(
        self, ids: Tensor, edits: Edits, ffns: Set[int], heads: bool, state: int
    ) -> StreamTrace:
        """Its pass over ids, (*batch, T), with these blocks' FFNs held, and the attention's."""

    def _rows(
        self, ids: Tensor, mask: Tensor | None, edits: Sequence[Edit]
    ) -> Iterator[StreamTrace]:
        """The traces of a batch's texts, (B, T), without what the mask, (B, T), has False."""

    @property
    def _ignores_padding(self) -> bool:
        """Whether texts of different lengths may be read together."""


class ReadsTexts:
    """What both kinds of networks make of their passes."""

    @torch.no_grad()
    def trace(
        self: _Runs, text: str, edits: Edits = (), look_at: int | None = None, *, hold: Hold = ()
    ) -> Trace:
        """Everything the network computes for a text of at most max_tokens tokens.

        The stream is kept; a block's stages and the logits are computed when asked for. Of a
        longer text the first max_tokens are used; `trace.n_left_out` and `trace.left_out` say what
        was not. Edits change hidden values in the pass, and so all that is computed from them.

        Args:
            text: what to read.
            edits: changes to hidden values, made in the pass: one Edit, or several.
            look_at: the former name of `hold`.
            hold: what is kept from the pass, and so not computed again when it is asked for:
                "ffn" (all FFNs' stages), "attention", "all", or blocks whose FFN's stages are kept.

        Raises:
            TypeError: if the text is not a str, or an edit no Edit.
            ValueError: if the text is empty or has an entry that the network has no vector for, or
                an edit changes what does not exist; in training mode, if it has dropout.
        """
        check_text(text)
        hold, edits = held_block(look_at, hold), all_of(edits)
        encoding = self.tokenizer.encode(text, self.sizes.max_tokens)
        if not encoding.tokens:
            raise ValueError("The text is empty: there is nothing to trace.")
        run = self.run(torch.tensor(encoding.ids, device=self.device), edits, hold)
        return trace_of(run, encoding, self, edits)

    @torch.no_grad()
    def run(
        self: _Runs, ids: Tensor, edits: Edits = (), hold: Hold = (), *, look_at: int | None = None
    ) -> StreamTrace:
        """What the network computes for ids, (*batch, T); see trace.

        Raises:
            TypeError: if the ids are not a tensor of whole numbers.
            ValueError: if there are no tokens, or more than max_tokens, or one that is not in the
                vocabulary; if an edit changes what does not exist.
            CannotOpenError: if the network is not ours, and was set to training mode.
        """
        state, ids = self._checked(), checked_ids(ids, self.sizes.vocab_size)
        ffns, heads = what_to_hold(held_block(look_at, hold), self.sizes.n_blocks)
        return self._pass(ids, edits, ffns, heads, state)

    def traces(
        self: _Runs, texts: Iterable[str], edits: Edits = (), batch: int = BATCH
    ) -> Iterator[Trace]:
        """The traces of many texts, in their order, `batch` of them read at a time.

        Shorter texts of a batch are padded, and no token attends to padding: each trace is that
        of its text alone up to rounding, as more rows are added up in another order. A network
        that does not ignore padding, which is tried, reads only texts of the same length together.

        Texts are asked for, and traces made, as the loop over them goes on; what is in memory is
        one batch and what you keep. A trace's stream is a view of its batch's; `save` and pickle
        leave the rest out.

        Args:
            texts: any number, also from a generator.
            edits: made in each of them.
            batch: the most texts that are read together; fewer where they are long.

        Raises:
            TypeError: if a text is not a str.
            ValueError: naming the text that is empty, or where an edit changes what is not there.
        """
        self._checked()
        texts, edits, batch = texts_of("texts", texts), all_of(edits), at_least("batch", batch)
        # From the end, an edit's token is another one in texts of another length.
        from_start = all(min(edit.token_places, default=0) >= 0 for edit in edits)
        if any(isinstance(v, Tensor) and v.ndim > 2 for e in edits for v in (e.value, e.add)):
            raise ValueError("Edits are the same in each text: give tensors (t, n) or (n,).")
        pads = self._ignores_padding and from_start
        batches = _batches(_encoded(self, texts, edits), self.sizes.d_ff, batch, pads)
        return chain.from_iterable(_batch_traces(self, each, edits) for each in batches)

    def head_shape(self: _Runs, block: int) -> tuple[int, int]:
        """How many heads a block has, and how wide each is; see heads."""
        n_heads, d_head, _ = self.heads(block).outputs.shape
        return n_heads, d_head


def _batch_traces(
    network: _Runs, encodings: list[Encoding], edits: Sequence[Edit]
) -> Iterator[Trace]:
    lengths = torch.tensor([len(encoding.tokens) for encoding in encodings])
    n = int(lengths.max())
    ids = torch.tensor([e.ids + e.ids[:1] * (n - len(e.ids)) for e in encodings])
    is_text = torch.arange(n) < lengths[:, None]
    attention_mask = None if bool(is_text.all()) else is_text.to(network.device)
    settled = [edit.settled(network.sizes, n, network.head_shape) for edit in edits]
    rows = network._rows(ids.to(network.device), attention_mask, settled)
    for encoding, row in zip(encodings, rows, strict=True):
        yield trace_of(row, encoding, network, edits)


def _batches(
    encodings: Iterable[Encoding], d_ff: int, batch: int, pads: bool
) -> Iterator[list[Encoding]]:
    current: list[Encoding] = []
    longest = 0
    for encoding in encodings:
        n = len(encoding.tokens)
        fits = len(current) < batch and max(longest, n) * (len(current) + 1) * d_ff <= MOST_HIDDEN
        if current and (not fits or (not pads and n != longest)):
            yield current
            current, longest = [], 0
        current.append(encoding)
        longest = max(longest, n)
    if current:
        yield current


def _encoded(network: Network, texts: Iterable[str], edits: Sequence[Edit]) -> Iterator[Encoding]:
    sizes = network.sizes
    for number, text in enumerate(texts):
        encoding = network.tokenizer.encode(text, sizes.max_tokens)
        if not encoding.tokens:
            raise ValueError(f"Text {number} is empty: there is nothing to trace.")
        for edit in edits:
            try:
                edit.settled(sizes, len(encoding.tokens), network.head_shape)
            except ValueError as error:
                raise ValueError(f"Text {number}: {error}") from error
        yield encoding
