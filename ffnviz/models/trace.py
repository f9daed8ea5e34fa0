"""What a network computed for a text: the stream is kept, all else is computed on demand."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ffnviz.models.arguments import place_of
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.attention import AttentionStages
from ffnviz.models.encoder.block import BlockRecord
from ffnviz.models.encoder.encoder import EncoderTrace
from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.encoder.tokenizer import Encoding, Token

T = TypeVar("T")


class SharedValues(Generic[T]):
    """Values that are computed together when the first is asked for; each is handed out once."""

    def __init__(self, compute: Callable[[], Sequence[T]], held: Sequence[T] = ()) -> None:
        self._compute = compute
        self._held = dict(enumerate(held))

    def take(self, number: int) -> T:
        """One of them, which is not kept here any longer."""
        value = self._held.pop(number, None)
        if value is None:
            computed = dict(enumerate(self._compute()))
            value = computed.pop(number)
            self._held = computed
        return value

    def forget(self) -> None:
        """Let go of what was not handed out."""
        self._held = {}

    @property
    def held(self) -> list[T]:
        """Those that were computed and not handed out."""
        return list(self._held.values())


class LazyValue(Generic[T]):
    """A value that is computed when first asked for, and held until it is forgotten.

    Two threads that ask at once may both compute it; each gets a complete, equal value.
    """

    def __init__(
        self,
        compute: Callable[[], T],
        held: T | None = None,
        source: SharedValues[Any] | None = None,  # what it is computed from, forgotten with it
    ) -> None:
        self._compute = compute
        self._held = held
        self._source = source

    def get(self) -> T:
        """The value, computed without gradients unless it is held."""
        held = self._held  # read once: another thread may forget it meanwhile
        if held is None:
            with torch.no_grad():
                held = self._compute()
            self._held = held
        return held

    @property
    def held(self) -> T | None:
        """The value if it is held, and else None; computes nothing."""
        return self._held

    @property
    def all_held(self) -> list[Any]:
        """What is held for it: the value, or None, and others that were computed with it."""
        return [self._held, *(() if self._source is None else self._source.held)]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value alone, if it is held: what computes it holds the network."""
        return LazyValue, (network_is_gone, self._held)

    def forget(self) -> None:
        """Let go of the value; it is computed again when asked for."""
        self._held = None
        if self._source is not None:
            self._source.forget()


def network_is_gone(*_: object) -> Any:
    """Stands for the network in a trace that was pickled or saved."""
    raise RuntimeError(
        "This trace was saved or pickled without its network, and what you ask for had not been "
        "computed. Compute it before you save, or trace the text again."
    )


def compact(value: Any) -> Any:
    """A copy of a tensor that is a view of a larger storage, which would be pickled with it."""
    if isinstance(value, Tensor) and value.untyped_storage().nbytes() > value.nbytes:
        return value.clone()
    return value


def tensors_in(records: Iterable[object]) -> list[Tensor]:
    """The tensors that are fields of records, or in one that is a tuple; of None, none."""
    found: list[Tensor] = []
    for record in records:
        for value in () if record is None else vars(record).values():
            found += filter(torch.is_tensor, value if isinstance(value, tuple) else (value,))
    return found


def nbytes_of(tensors: Iterable[Tensor]) -> int:
    """Bytes that tensors occupy together, what they share counted once."""
    sizes = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


@dataclass(frozen=True, eq=False, repr=False)
class BlockTrace:
    """A block's part of a pass: the streams, and its stages on demand.

    Attributes:
        input: the residual stream before the block, (*batch, T, d_model).
        middle: the stream between attention and FFN, (*batch, T, d_model).
        output: the stream after the block, (*batch, T, d_model).
        attention_stages: computes `attention`.
        ffn_stages: computes `ffn`, with the edits of this pass.
        behind_ffn: the stream right behind the FFN, (*batch, T, d_model), if the block changes it
            once more, as with Gemma 4's per-layer inputs; None if that is `output`.

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> block = trace.blocks[1]
        >>> torch.equal(block.input, trace.blocks[0].output)
        True
        >>> torch.allclose(block.input + block.attention.output, block.middle, atol=1e-5)
        True
        >>> torch.allclose(block.middle + block.ffn.output, block.output, atol=1e-5)
        True
    """

    input: Float[Tensor, "*batch tokens d_model"]
    middle: Float[Tensor, "*batch tokens d_model"]
    output: Float[Tensor, "*batch tokens d_model"]
    attention_stages: LazyValue[AttentionStages] = field(repr=False)
    ffn_stages: LazyValue[FeedForwardRecord] = field(repr=False)
    behind_ffn: Float[Tensor, "*batch tokens d_model"] | None = None

    def __repr__(self) -> str:
        return f"BlockTrace(streams {tuple(self.output.shape)})"

    @property
    def attention(self) -> AttentionStages:
        """The attention's stages; of others' networks, one second pass has all blocks'."""
        return self.attention_stages.get()

    @property
    def ffn(self) -> FeedForwardRecord:
        """The FFN's stages, to the bit what the pass had."""
        return self.ffn_stages.get()

    def __getstate__(self) -> dict[str, Any]:
        return {name: compact(value) for name, value in vars(self).items()}

    def forget(self) -> None:
        """Let go of the stages; the streams stay."""
        self.attention_stages.forget()
        self.ffn_stages.forget()


@dataclass(frozen=True, eq=False, repr=False)
class StreamTrace:
    """A forward pass whose stages and logits are computed on demand.

    It stays the pass it was: should the network's weights change, what was not computed before is
    refused (WeightsChangedError). Threads may share it.

    Attributes:
        ids: the token ids, (*batch, T).
        embedding: the stream before the first block, (*batch, T, d_model).
        blocks: one a block, in order.
        final: what the output matrix reads, (*batch, T, d_model).
        unembed: the output matrix: rows of `final`, (…, d_model), to logits, (…, vocab_size).

    Examples:
        >>> run = ffnviz.load("relu").run(torch.tensor([[5, 6, 7], [8, 9, 10]]))  # (B, T)
        >>> run.blocks[0].output.shape, run.logits.shape
        (torch.Size([2, 3, 512]), torch.Size([2, 3, 8192]))
    """

    ids: Int[Tensor, "*batch tokens"]
    embedding: Float[Tensor, "*batch tokens d_model"]
    blocks: tuple[BlockTrace, ...]
    final: Float[Tensor, "*batch tokens d_model"]
    unembed: Callable[[Tensor], Tensor] = field(repr=False)
    _logits: LazyValue[Tensor] = field(init=False, repr=False)
    _rows: dict[int, LazyValue[Tensor]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_logits", LazyValue(partial(self.unembed, self.final)))

    def __repr__(self) -> str:
        return f"StreamTrace(ids {tuple(self.ids.shape)}, {len(self.blocks)} blocks)"

    def __getstate__(self) -> dict[str, Any]:
        """Pickled, it keeps the stream and what was computed, and leaves its network out."""
        kept = {name: compact(value) for name, value in vars(self).items()}
        gone = {"unembed": network_is_gone, "network": None}
        return kept | {name: value for name, value in gone.items() if name in kept}

    def __copy__(self) -> "StreamTrace":
        return self  # it never changes

    def __deepcopy__(self, _: object) -> "StreamTrace":
        return self

    @property
    def logits(self) -> Float[Tensor, "*batch tokens vocab_size"]:
        """One score a vocabulary entry at every token, (*batch, T, vocab_size)."""
        return self._logits.get()

    def logits_at(self, token: int) -> Float[Tensor, "*batch vocab_size"]:
        """The logits at one token alone, (*batch, vocab_size).

        As `logits` has them up to rounding: one row is added up in another order than many.

        Raises:
            IndexError: if there is no such token.
        """
        place = token_place(token, self.final.shape[-2])
        row = LazyValue(partial(self.unembed, self.final[..., place, :]))
        return self._rows.setdefault(place, row).get()

    @property
    def logits_held(self) -> Tensor | None:
        """The logits if they were computed, and else None."""
        return self._logits.held

    @property
    def nbytes(self) -> int:
        """Bytes held right now, what was computed on demand included."""
        records: list[object] = [self, *self.blocks]
        for block in self.blocks:
            records += [*block.attention_stages.all_held, *block.ffn_stages.all_held]
        logits = [rows.held for rows in (self._logits, *list(self._rows.values()))]
        return nbytes_of([*tensors_in(records), *filter(torch.is_tensor, logits)])

    def forget(self) -> None:
        """Let go of all that was computed on demand, which can be computed again."""
        for block in self.blocks:
            block.forget()
        self._logits.forget()
        self._rows.clear()


def token_place(token: int, n_tokens: int) -> int:
    """A token's place from 0; −1 is the last."""
    try:
        return place_of("token", token, n_tokens)
    except ValueError as error:
        raise IndexError(str(error)) from None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Trace(StreamTrace):
    """The forward pass of one text; shapes as in StreamTrace, without a batch dimension.

    A pickled one keeps its tokens, the stream, and the stages and logits that were computed; its
    network is then None, and asking for what was not computed raises a RuntimeError.

    Attributes:
        text: the text as typed.
        tokens: T tokens, each with its stretch of the text.
        n_left_out: how many tokens of the text were beyond max_tokens and are not in this trace.
        network: the Network that read it.
        edits: interventions that were made in the pass.

    Examples:
        >>> trace = ffnviz.load("relu").trace("She opened the [MASK].")
        >>> [token.text for token in trace.tokens]
        ['She', ' opened', ' the', ' [MASK]', '.']
        >>> trace.blocks[0].ffn.hidden.shape, trace.blocks[0].attention.weights.shape
        (torch.Size([5, 2048]), torch.Size([8, 5, 5]))
        >>> trace.network.tokenizer.word(int(trace.logits_at(3).argmax()))
        ' door'
        >>> trace.save("it.safetensors")
        >>> ffnviz.Trace.load("it.safetensors").text
        'She opened the [MASK].'
        >>> ffnviz.Trace.cat([trace, trace])
        JoinedTrace(2 texts, 10 tokens)
    """

    text: str
    tokens: tuple[Token, ...]
    n_left_out: int
    network: Any = field(repr=False)
    edits: tuple[Edit, ...] = ()

    def __repr__(self) -> str:
        n_edits = len(self.edits)
        edits = f", {n_edits} edit{'s' * (n_edits > 1)}" * bool(n_edits)
        cut = f", {self.n_left_out} tokens left out" * bool(self.n_left_out)
        sizes = f"{len(self.tokens)} tokens, {len(self.blocks)} blocks{edits}{cut}"
        return f"{type(self).__name__}({shorten(self.text)}, {sizes})"

    @property
    def left_out(self) -> str:
        """The end of the text that is not in this trace."""
        return self.text[self.tokens[-1].end :] if self.n_left_out else ""

    def save(self, path: str | Path) -> None:
        """Write it to a file: safetensors, whose names are those of a trace.

        The stream, and of the stages and logits those that were computed: "embedding",
        "blocks.0.output", "blocks.0.ffn.hidden", …; text, tokens and edits are in the metadata.

        Raises:
            OSError: if it cannot be written.
        """
        from ffnviz.models.trace_file import save_trace

        save_trace(self, path)

    @staticmethod
    def load(path: str | Path) -> "Trace":
        """A trace that was saved. It has no network: what was not computed raises a RuntimeError.

        Raises:
            TraceFileError: if the file is not there, or no trace.
        """
        from ffnviz.models.trace_file import load_trace

        return load_trace(path)

    @staticmethod
    def cat(traces: Iterable["Trace"]) -> "JoinedTrace":
        """The tokens of several traces of one network in a row, (T₁ + T₂ + …).

        Raises:
            TypeError: if one trace is given, and not several.
            ValueError: if there are none, or they are of different networks.
        """
        from ffnviz.models.trace_table import joined

        return joined(traces)

    def to_xarray(self, logits: bool = False) -> Any:
        """An xarray.Dataset: the stream and all FFNs' stages, with named axes.

        They are block, token, component and neuron. `behind_ffn` is there where a block has it.

        Every block's FFN is computed for it: about 4 (2 d_ff + 5 d_model) bytes a token and block.

        Args:
            logits: whether they are in it, too, with the axis `word`.

        Raises:
            ImportError: in a sentence, without xarray.
        """
        from ffnviz.models.trace_table import dataset

        return dataset(self, self.tokens, logits)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all neurons: a row a block, token and neuron, which index it.

        Its columns are `word`, `pre_activation`, `hidden` and, of a gated FFN, `value`. Every
        block's FFN is computed for it: about 30 d_ff bytes a token and block.

        Raises:
            ImportError: in a sentence, without pandas.
        """
        from ffnviz.models.trace_table import frame

        return frame(self, self.tokens)


def trace_of(run: StreamTrace, encoding: Encoding, network: Any, edits: Iterable[Edit]) -> Trace:
    """The trace of a text from a network's pass over its tokens."""
    return Trace(
        run.ids,
        run.embedding,
        run.blocks,
        run.final,
        run.unembed,
        text=encoding.text,
        tokens=encoding.tokens,
        n_left_out=encoding.n_left_out,
        network=network,
        edits=tuple(edits),
    )


# What every pass offers, computed at once or on demand.
BlockStages = BlockTrace | BlockRecord
if TYPE_CHECKING:
    from ffnviz.models.trace_table import JoinedTrace

    class ForwardPass(Protocol):
        """A StreamTrace, a Trace or an EncoderTrace."""

        @property
        def ids(self) -> Tensor: ...  # noqa: D102
        @property
        def embedding(self) -> Tensor: ...  # noqa: D102
        @property
        def blocks(self) -> Sequence[BlockStages]: ...  # noqa: D102
        @property
        def final(self) -> Tensor: ...  # noqa: D102
        @property
        def logits(self) -> Tensor: ...  # noqa: D102
        def logits_at(self, token: int) -> Tensor: ...  # noqa: D102
else:
    # beartype checks this in tests: to see whether it fits a protocol, a trace would compute all.
    ForwardPass = StreamTrace | EncoderTrace
    JoinedTrace = StreamTrace  # its own module imports this one
