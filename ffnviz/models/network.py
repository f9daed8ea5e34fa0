"""The protocol of a network that can be looked into: ours, and other people's."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from reprlib import repr as shorten
from typing import Protocol

import torch
from torch import Tensor

from ffnviz.models.arguments import Hold
from ffnviz.models.card import Card, Sizes
from ffnviz.models.edit import Edits
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.trace import BlockStages, ForwardPass, StreamTrace, Trace
from ffnviz.models.views import AttentionView, FfnView, WordHead, WordVectors

BATCH = 64  # texts that are read together


class NotForThisNetwork(ValueError):  # noqa: N818, as nobody made an error
    """What was asked for does not exist for this network: the message says why.

    Examples:
        >>> headless = ffnviz.from_module(gpt2.transformer, tokenizer, "GPT-2 without its head")
        >>> ffnviz.logit_difference(headless, "cat")
        Traceback (most recent call last):
            ...
        ffnviz.models.network.NotForThisNetwork: ...
    """


def check_network(given: object) -> None:
    """Check that a network was given, and not, say, a trace of one."""
    if not all(callable(getattr(given, name, None)) for name in ("trace", "run", "ffn")):
        raise TypeError(
            f"network = {shorten(given)}: give a network, as ffnviz.load or ffnviz.from_module "
            "makes it."
        )


def network_of(trace: object) -> "Network":
    """The network that made a trace."""
    if not isinstance(trace, Trace):
        raise TypeError(
            f"trace = {shorten(trace)}: give the trace of one text, as network.trace(text) makes "
            "it; of joined ones, one of their `traces`."
        )
    if trace.network is None:
        raise ValueError(
            "This trace was saved or pickled, which leaves its network out. Trace the text again."
        )
    network: Network = trace.network
    return network


class UnreadableTextError(ValueError):
    """A text has an entry of the vocabulary that the network has no vector for: which, it says.

    Examples:
        >>> try:
        ...     ffnviz.from_module(gpt2, tokenizer).trace("the cat")  # it has vectors for all
        ... except ffnviz.UnreadableTextError as error:
        ...     print(error)
        Trace('the cat', 2 tokens, 2 blocks)
    """


class TokenizerLike(Protocol):
    """Text to ids and spans, and back."""

    @property
    def mask_id(self) -> int | None:
        """The id of the token that stands for a word to fill in; None if there is none."""

    @property
    def vocab_size(self) -> int:
        """Entries of the vocabulary."""

    @property
    def special_ids(self) -> frozenset[int]:
        """Entries that are not text: masks, beginnings and ends."""

    def encode(self, text: str, max_tokens: int | None = None) -> Encoding:
        """The tokens of any text, each with its span in it."""

    def encode_many(self, lines: Sequence[str]) -> list[list[int]]:
        """The ids alone of many texts."""

    def decode(self, ids: list[int]) -> str:
        """The text of a sequence of ids."""

    def word(self, id_: int) -> str:
        """The text of one entry, with its leading space if it has one."""

    def label(self, id_: int) -> str:
        """One entry as a list for people shows it."""


class Network(Protocol):
    """A network's card and sizes, its passes, and its parts as the equations have them.

    Examples:
        >>> def share_active(network: ffnviz.Network, text: str) -> float:
        ...     hidden = network.trace(text).blocks[0].ffn.hidden
        ...     return float((hidden > 0).float().mean())
        >>> 0 < share_active(ffnviz.load("relu"), "It was late.") < 1
        True
    """

    @property
    def card(self) -> Card:
        """What it is."""

    @property
    def sizes(self) -> Sizes:
        """How large it is."""

    @property
    def tokenizer(self) -> TokenizerLike:
        """Text to ids and spans, and back."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that follow from its weights alone; see fingerprint.py."""

    @property
    def input_words(self) -> WordVectors:
        """The words' embedding vectors."""

    @property
    def head(self) -> WordHead | None:
        """How the last stream becomes logits; None without a word head."""

    def trace(self, text: str, edits: Edits = (), *, hold: Hold = ()) -> Trace:
        """Its trace of a text; see Model.trace."""

    def traces(
        self, texts: Iterable[str], edits: Edits = (), batch: int = BATCH
    ) -> Iterator[Trace]:
        """The traces of many texts, in their order; see Model.traces."""

    def run(self, ids: Tensor, edits: Edits = (), hold: Hold = ()) -> StreamTrace:
        """Its pass over ids, (*batch, T), with stages and logits on demand."""

    def walk(self, ids: Tensor) -> Iterator[BlockStages]:
        """The blocks' stages for ids, (*batch, T), one block after the other, none kept."""

    def show_hidden(
        self, ids: Tensor, blocks: Collection[int], see: Callable[[Tensor], None]
    ) -> None:
        """Have `see` look at some blocks' hidden values, (*batch, T, d_ff) each, in their order.

        They are shown while the pass over ids, (*batch, T), makes them, and are not to be written
        to or kept. Nothing behind the last of them is computed.
        """

    def ffn(self, block: int) -> FfnView:
        """One block's FFN, by its place from 0; −1 is the last.

        Raises:
            ValueError: if there is no such block.
        """

    def heads(self, block: int) -> AttentionView:
        """One block's attention heads, by its place from 0; −1 is the last.

        Raises:
            ValueError: if there is no such block.
            NotForThisNetwork: if what they do cannot be seen.
        """

    def head_shape(self, block: int) -> tuple[int, int]:
        """How many heads a block has, and how wide each is."""

    def logits(self, rows: Tensor) -> Tensor:
        """Rows of the stream read as if it were the last, (…, d_model) -> (…, vocab_size).

        Raises:
            NotForThisNetwork: without a word head.
        """

    def embedding_parts(self, trace: ForwardPass, token: int) -> dict[str, Tensor]:
        """The terms of the embedding at a token, by name, (d_model,) each."""

    def stream_with(self, trace: ForwardPass, block: int, output: Tensor) -> Tensor:
        """The last stream, (T, d_model), had one block's FFN written `output`, (T, d_model)."""
