"""Recordings: what one pass through a proved network is to keep and to change.

The running recording is a ContextVar, so each thread has its own; hooks.py reads it. Where there
is none, the network computes to the bit what it always did.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from ffnviz.models.edit import Edit
from ffnviz.models.external.attention_mix import Mix, MixRecorder
from ffnviz.models.external.watch import PassEnded


@dataclass(eq=False)
class RecordedBlock:
    """What was recorded of one block; what was not is None."""

    # read: the stream before it and any edit. input, middle, output: the stream before it, before
    # its FFN, and after it, (B, T, d_model)
    read: Tensor
    input: Tensor
    middle: Tensor | None = None
    output: Tensor | None = None
    ffn_input: Tensor | None = None  # (B, T, d_model)
    # up, gate: what the first linear layers wrote, (B, T, d_ff) or twice that
    up: Tensor | None = None
    gate: Tensor | None = None
    hidden: Tensor | None = None  # after any edits, (B, T, d_ff)
    written: Tensor | None = None  # by the FFN's last layer, (B, T, d_model)
    attention: Tensor | None = None  # parallel, what attention wrote, (B, T, d_model)
    # of recorded heads: what they read and wrote, (B, T, d_model), and how they mixed it
    heads_read: Tensor | None = None
    heads_wrote: Tensor | None = None
    mixes: list[Mix] = field(default_factory=list)


@dataclass(eq=False)
class Recording:
    """One recorded pass."""

    ids: Tensor  # (B, T)
    edits: Sequence[Edit] = ()  # made during the pass
    hold: Collection[int] = ()  # the blocks whose FFN's stages are kept
    # what a block's FFN writes instead, (B, T, d_model), by the block's place
    write: Mapping[int, Tensor] = field(default_factory=dict)
    # whether the network's result is wanted; else the pass ends behind the last block
    to_the_end: bool = False
    # whether a block reads to the bit what the one before it wrote: it is then kept once
    chained: bool = False
    # called with hidden, (B, T, d_ff), as soon as it is computed, by the block's place. If there
    # are any, nothing is kept, and the pass ends behind the last of them
    show: Mapping[int, Callable[[Tensor], None]] = field(default_factory=dict)
    heads: Collection[int] = ()  # the blocks whose heads are recorded
    heads_alone: bool = False  # whether nothing else is: the pass ends behind the last of them
    blocks: list[RecordedBlock] = field(default_factory=list)  # those that have begun

    @property
    def number(self) -> int:
        """The place of the running block."""
        return len(self.blocks) - 1

    @property
    def block(self) -> RecordedBlock:
        """The running block."""
        return self.blocks[-1]

    @property
    def holds(self) -> bool:
        """Whether the running block's stages are kept."""
        return self.number in self.hold

    @property
    def records_heads(self) -> bool:
        """Whether the running block's heads are recorded."""
        return self.number in self.heads

    @property
    def ends_with_heads(self) -> bool:
        """Whether the running block's heads are the last that is wanted."""
        return self.heads_alone and self.number == max(self.heads)

    def batched(self, values: Tensor) -> Tensor:
        """The values as (B, T, width), in whatever shape the network has them."""
        return values.reshape(*self.ids.shape, values.shape[-1])

    def copied(self, values: Tensor) -> Tensor:
        """A copy of the values, (B, T, width): some networks add to theirs in place."""
        return self.batched(values.clone())


ACTIVE: ContextVar[Recording | None] = ContextVar("recording", default=None)


def record(model: nn.Module, recording: Recording, attention_mask: Tensor | None = None) -> Any:
    """Run the pass and fill the recording; what the network returned, None if the pass ended early.

    `attention_mask`, (B, T), is False where a text has ended and padding fills its row.
    """
    options = {} if attention_mask is None else {"attention_mask": attention_mask.long()}
    heads = MixRecorder(lambda: recording.block.mixes if recording.records_heads else None)
    token = ACTIVE.set(recording)
    try:
        with heads if recording.heads else nullcontext():
            return model(input_ids=recording.ids, **options)
    except PassEnded:
        return None
    finally:
        ACTIVE.reset(token)


@contextmanager
def unrecorded() -> Iterator[None]:
    """A context in which modules run unrecorded and unedited, also within a recorded pass."""
    token = ACTIVE.set(None)
    try:
        yield
    finally:
        ACTIVE.reset(token)


def row_of(blocks: Sequence[RecordedBlock], row: int, n: int) -> list[RecordedBlock]:
    """What was recorded of the first n tokens of one text of a batch; nothing is copied."""
    rows: list[RecordedBlock] = []
    for number, block in enumerate(blocks):
        values: dict[str, Any] = {
            name: x[row : row + 1, :n] for name, x in vars(block).items() if isinstance(x, Tensor)
        }
        if number and block.input is blocks[number - 1].output:
            values["input"] = rows[-1].output
        rows.append(RecordedBlock(**values))
    return rows


def recorded(values: Tensor | None) -> Tensor:
    """The values that a hook recorded.

    Raises:
        RuntimeError: if it recorded none: the network ran another way than when it was proved.
    """
    if values is None:
        raise RuntimeError("a proved module did not run")
    return values
