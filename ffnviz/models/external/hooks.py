"""Permanent hooks on the proved modules: they record and edit the pass of the active recording.

The running recording is a ContextVar, so each thread has its own; hooks.py reads it. Where there
is none, the network computes to the bit what it always did.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from ffnviz.models.edit import Edit, edited, edits_of
from ffnviz.models.external.proof import Proof, ProvedBlock
from ffnviz.models.external.roles import PARALLEL
from ffnviz.models.external.watch import (
    Mix,
    MixRecorder,
    PassEnded,
    stream_in,
    stream_out,
    with_stream,
    with_stream_in,
)


@dataclass(eq=False)
class RecordedBlock:
    """What was recorded of one block; what was not is None."""

    read: Tensor  # the stream before it and any edit, (B, T, d_model)
    input: Tensor  # the stream before it
    middle: Tensor | None = None  # and before its FFN
    output: Tensor | None = None  # and after it
    ffn_input: Tensor | None = None  # (B, T, d_model)
    up: Tensor | None = None  # what a first linear layer wrote, (B, T, d_ff) or twice that
    gate: Tensor | None = None  # likewise
    hidden: Tensor | None = None  # after any edits, (B, T, d_ff)
    written: Tensor | None = None  # by the FFN's last layer, (B, T, d_model)
    attention: Tensor | None = None  # parallel, what attention wrote, (B, T, d_model)
    added: Tensor | None = None  # what the FFN adds, where the block goes on, (B, T, d_model)
    # of recorded heads: what they read and wrote, (B, T, d_model), and how they mixed it
    heads_read: Tensor | None = None
    heads_wrote: Tensor | None = None
    mixes: list[Mix] = field(default_factory=list)

    def equals(self, other: "RecordedBlock") -> bool:
        """Whether all values are the same, to the bit."""
        ours, theirs = self._tensors(), other._tensors()
        return len(ours) == len(theirs) and all(map(torch.equal, ours, theirs))

    def _tensors(self) -> list[Tensor]:
        own = [x for x in vars(self).values() if isinstance(x, Tensor)]
        return own + [x for mix in self.mixes for x in (mix.weights, mix.values)]


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
    copies: bool = True  # else the network's own tensors are kept
    kept: list[tuple[Tensor, int]] = field(default_factory=list)  # these, each with its version
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

    def batched(self, values: Tensor) -> Tensor:
        """The values as (B, T, width), in whatever shape the network has them."""
        return values.reshape(*self.ids.shape, values.shape[-1])

    def keep(self, values: Tensor) -> Tensor:
        """The values, or a copy of them, in their own shape."""
        if self.copies or values.is_inference():  # these have no version
            return values.clone()
        self.kept.append((values, values._version))
        return values

    def keep_batched(self, values: Tensor) -> Tensor:
        """The values to keep, (B, T, width)."""
        return self.batched(self.keep(values))

    def edited(self, values: Tensor, at: str) -> Tensor:
        """The values with the running block's edits at this place; without any, the same tensor."""
        edits = edits_of(self.edits, self.number, at)
        return edited(self.batched(values), edits, at).reshape(values.shape) if edits else values

    @property
    def overwritten(self) -> bool:
        """Whether what was kept was changed since: some networks add in place."""
        return any(values._version != version for values, version in self.kept)


ACTIVE: ContextVar[Recording | None] = ContextVar("recording", default=None)


def record(model: nn.Module, recording: Recording, attention_mask: Tensor | None = None) -> Any:
    """Run the pass and fill the recording; what the network returned, None if the pass ended early.

    `attention_mask`, (B, T), is False where a text has ended and padding fills its row.
    """
    options = {} if attention_mask is None else {"attention_mask": attention_mask.long()}
    heads = MixRecorder(
        lambda: recording.block.mixes if recording.records_heads else None, recording.keep
    )
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
    """The values that a hook recorded."""
    if values is None:
        raise RuntimeError("a module that the equations were checked on did not run")
    return values


Register = Callable[[nn.Module], RemovableHandle]
Condition = Callable[[Recording], bool]

OURS = "of_ffnviz"  # what a hook of ours has, also in a copy
# A network in memory may be proved again: its modules have one set of hooks all the same.
_INSTALLED: WeakKeyDictionary[nn.Module, list[RemovableHandle]] = WeakKeyDictionary()


def install(proof: Proof) -> None:
    """Put the hooks on the proved modules, once, in place of those of an earlier proof."""
    hooks = [hook for proved in proof.blocks for hook in _hooks_of(proof, proved)]
    for _, module, _ in hooks:
        for handle in _INSTALLED.pop(module, []):
            handle.remove()
    # By kind and module: a block that runs twice is given its hooks once.
    once = {(kind, module): register for kind, module, register in hooks}
    for (_, module), register in once.items():
        _INSTALLED.setdefault(module, []).append(register(module))


def remove_copied(model: nn.Module) -> None:
    """Take away the hooks that came along with a copy of a network: they are the first one's."""
    for module in model.modules():
        if module in _INSTALLED:
            continue
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            for key in [key for key, hook in hooks.items() if getattr(hook, OURS, False)]:
                del hooks[key]
                module._forward_pre_hooks_with_kwargs.pop(key, None)


def _hooks_of(proof: Proof, proved: ProvedBlock) -> Iterator[tuple[str, nn.Module, Register]]:
    n_blocks = len(proof.blocks)
    ffn, stream, attention = proved.ffn, proved.stream, proved.attention

    def end_block(recording: Recording, returned: Any) -> Any:
        if recording.show:
            return None
        returned = _edited(recording, returned, "output")
        recording.block.output = recording.keep_batched(stream_out(returned))
        if recording.number == n_blocks - 1 and not recording.to_the_end:
            raise PassEnded
        return returned

    yield "begin", proved.block, _before(_begin_block, begins=True)
    yield "end", proved.block, _after(end_block)
    if stream.norm_before is not None and stream.kind != PARALLEL:
        yield "middle", stream.norm_before.module, _before(_input_recorder("middle"))
    if stream.middle_norm is not None and proved.edits_middle_norm:
        yield "edit middle", stream.middle_norm.module, _after(partial(_edited, at="middle"))
    yield "ffn input", ffn.up.module, _before(_input_recorder("ffn_input"))
    yield "up", ffn.up.module, _after(_output_recorder("up", lambda r: r.holds))
    if ffn.gate is not None:
        yield "gate", ffn.gate.module, _after(_output_recorder("gate", lambda r: r.holds))
    yield "hidden", ffn.down.module, _before(_edit_hidden)
    yield "written", ffn.down.module, _after(_edit_written)
    if stream.goes_on:
        yield "added", (stream.written_norm or ffn.down).module, _after(_output_recorder("added"))
    if attention is not None:
        yield "edit attention", attention.module, _after(partial(_edit_attention, proof))
        if attention.heads is not None:
            yield "edit heads", attention.heads.out.module, _before(_edit_heads)
            # Once: the same module may project relative positions afterwards.
            record_heads = _input_recorder(
                "heads_read", lambda r: r.records_heads and r.block.heads_read is None
            )
            yield "heads", attention.heads.reads, _before(record_heads)
    if stream.attention is not None:
        yield "attention", stream.attention.module, _after(_output_recorder("attention"))


def _before(hook: Callable[[Recording, Any, Any], Any], begins: bool = False) -> Register:
    """Registers what is called with the active recording, once its first block has begun."""

    def called(_: nn.Module, args: Any, kwargs: Any) -> Any:
        recording = ACTIVE.get()
        if recording is None or not (begins or recording.blocks):
            return None
        return hook(recording, args, kwargs)

    setattr(called, OURS, True)
    return lambda module: module.register_forward_pre_hook(called, with_kwargs=True)


def _after(hook: Callable[[Recording, Any], Any]) -> Register:
    """The same with what the module returned."""

    def called(_: nn.Module, _args: Any, returned: Any) -> Any:
        recording = ACTIVE.get()
        return None if recording is None or not recording.blocks else hook(recording, returned)

    setattr(called, OURS, True)
    return lambda module: module.register_forward_hook(called)


def _edited(recording: Recording, returned: Any, at: str) -> Any:
    """What a module returned, with the edits of the running block made that are `at` this place."""
    values = stream_out(returned)
    changed = recording.edited(values, at)
    return returned if changed is values else with_stream(returned, changed)


def _begin_block(recording: Recording, args: Any, kwargs: Any) -> Any:
    stream = stream_in(args, kwargs)
    if stream is None:
        return None
    edits = edits_of(recording.edits, len(recording.blocks), "input")
    chained = recording.chained and recording.blocks and not edits
    before = recording.block.output if chained else None
    if before is None:
        before = stream.new_empty(0) if recording.show else recording.keep_batched(stream)
    recording.blocks.append(RecordedBlock(before, edited(before, edits, "input")))
    if not edits:
        return None
    return with_stream_in(args, kwargs, recording.block.input.reshape(stream.shape))


def _edit_attention(proof: Proof, recording: Recording, returned: Any) -> Any:
    returned = _edited(recording, returned, "attention")
    if recording.records_heads:
        recording.block.heads_wrote = recording.keep_batched(stream_out(returned))
        if recording.heads_alone and recording.number == max(recording.heads):
            raise PassEnded
    proved = proof.blocks[recording.number]
    middle = edits_of(recording.edits, recording.number, "middle")
    if not middle or proved.edits_middle_norm or proved.attention is None:
        return returned
    # m = x + r a: what changes m is what a is changed by.
    r, a = proved.attention.multiplier, stream_out(returned)
    m = recording.block.input + r * recording.batched(a)
    change = (edited(m, middle, "middle") - m) / r
    return with_stream(returned, a + change.reshape(a.shape))


def _edit_heads(recording: Recording, args: Any, kwargs: Any) -> Any:
    if not edits_of(recording.edits, recording.number, "heads"):
        return None
    return (recording.edited(args[0], "heads"), *args[1:]), kwargs


def _input_recorder(name: str, condition: Condition = lambda r: not r.show) -> Any:
    def record(recording: Recording, args: Any, kwargs: Any) -> None:
        stream = stream_in(args, kwargs)
        if condition(recording) and stream is not None:
            setattr(recording.block, name, recording.keep_batched(stream))

    return record


def _output_recorder(name: str, condition: Condition = lambda r: not r.show) -> Any:
    def record(recording: Recording, returned: Any) -> None:
        if condition(recording):
            setattr(recording.block, name, recording.keep_batched(stream_out(returned)))

    return record


def _edit_hidden(recording: Recording, args: Any, kwargs: Any) -> Any:
    hidden = args[0]
    if recording.show:
        see = recording.show.get(recording.number)
        if see is not None:
            see(recording.batched(hidden))
        if recording.number >= max(recording.show):
            raise PassEnded
    hidden = recording.edited(hidden, "hidden")
    if recording.holds:
        recording.block.hidden = recording.keep_batched(hidden)
    return (hidden, *args[1:]), kwargs


def _edit_written(recording: Recording, returned: Any) -> Any:
    replacement = recording.write.get(recording.number)
    if replacement is not None:
        returned = replacement.to(returned).reshape(returned.shape)
    returned = _edited(recording, returned, "ffn")
    if recording.holds:
        recording.block.written = recording.keep_batched(returned)
    return returned
