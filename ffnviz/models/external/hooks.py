"""Permanent hooks: a pass is recorded and edited where somebody asks, for many threads at once.

A hook looks into a ContextVar, which each thread has its own of. Where nobody records, it does
nothing, and the network computes to the bit what it always did.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from ffnviz.models.edit import Edit, edited, edits_of
from ffnviz.models.external.attention_mix import Mix, SeesMixes
from ffnviz.models.external.proof import Proof, ProvedBlock
from ffnviz.models.external.stream_roles import PARALLEL
from ffnviz.models.external.watch import stream_in, stream_out, with_stream, with_stream_in


@dataclass(eq=False)
class SeenBlock:
    """What was recorded of one block; None is what nobody asked for."""

    # input, middle, output: the stream before it, before its FFN, and after it, (B, T, d_model)
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
    # where heads are looked at: what they read and write, (B, T, d_model), and what they do
    heads_read: Tensor | None = None
    heads_wrote: Tensor | None = None
    mixes: list[Mix] = field(default_factory=list)


@dataclass(eq=False)
class Recording:
    """One pass that is recorded."""

    shape: tuple[int, int]  # (B, T)
    edits: Sequence[Edit] = ()  # changes to hidden values, made on the way
    hold: Collection[int] = ()  # the blocks whose FFN's stages are kept
    # what a block's FFN writes instead, (B, T, d_model), by the block's place
    write: Mapping[int, Tensor] = field(default_factory=dict)
    # whether the result is wanted; else the pass ends behind the last block
    to_the_end: bool = False
    # whether a block reads to the bit what the one before it wrote: kept once then
    chained: bool = False
    # called with hidden, (B, T, d_ff), as soon as it is there, by the block's place. Then nothing
    # is kept, and the pass ends when all are shown
    show: Mapping[int, Callable[[Tensor], None]] = field(default_factory=dict)
    heads_of: int | None = None  # the block whose heads are looked at: the pass ends behind them
    blocks: list[SeenBlock] = field(default_factory=list)  # what was seen

    @property
    def number(self) -> int:
        """The place of the block that is running."""
        return len(self.blocks) - 1

    @property
    def now(self) -> SeenBlock:
        """The block that is running."""
        return self.blocks[-1]

    @property
    def holds(self) -> bool:
        """Whether its stages are kept."""
        return self.number in self.hold

    @property
    def sees_heads(self) -> bool:
        """Whether its heads are looked at."""
        return bool(self.blocks) and self.number == self.heads_of

    @property
    def keeps(self) -> bool:
        """Whether the streams are kept."""
        return not self.show

    def whole(self, values: Tensor) -> Tensor:
        """A copy of the values as (B, T, width), however the network keeps them."""
        return values.clone().reshape(*self.shape, values.shape[-1])


def row_of(seen: Sequence[SeenBlock], row: int, n: int) -> list[SeenBlock]:
    """What was recorded of one text of a batch, and of its first n tokens; nothing is copied."""
    rows: list[SeenBlock] = []
    for number, block in enumerate(seen):
        own: dict[str, Any] = {
            name: x[row : row + 1, :n] for name, x in vars(block).items() if isinstance(x, Tensor)
        }
        if number and block.input is seen[number - 1].output:
            own["input"] = rows[-1].output
        rows.append(SeenBlock(**own))
    return rows


def there(values: Tensor | None) -> Tensor:
    """What a hook has seen.

    Raises:
        RuntimeError: if it saw nothing: the network then ran another way than when it was proved.
    """
    if values is None:
        raise RuntimeError("a proved module did not run")
    return values


class _BehindTheLastBlock(Exception):  # noqa: N818, as nothing is wrong
    """All that was asked for has been seen."""


NOW: ContextVar[Recording | None] = ContextVar("recording", default=None)


@torch.inference_mode()
def record(model: nn.Module, ids: Tensor, recording: Recording, there: Tensor | None = None) -> Any:
    """Run a pass over ids, (B, T), and fill the recording; what the network returned, if asked.

    `there` is False where a text has ended and only fills its batch up, (B, T).
    """
    return passed(model, ids, recording, {} if there is None else {"attention_mask": there.long()})


def passed(model: nn.Module, ids: Tensor, recording: Recording, more: Mapping[str, Any]) -> Any:
    """The same, in whatever mode of PyTorch it is called, with more arguments."""
    token = NOW.set(recording)
    try:
        return model(input_ids=ids, **more)
    except _BehindTheLastBlock:
        return None
    finally:
        NOW.reset(token)


@torch.inference_mode()
def heads_seen(model: nn.Module, ids: Tensor, block: int, edits: Sequence[Edit]) -> SeenBlock:
    """What a block's heads do in a pass over ids, (B, T); nothing behind them is computed."""
    recording = Recording((len(ids), ids.shape[1]), edits, heads_of=block)
    with SeesMixes(lambda mix: recording.now.mixes.append(mix), lambda: recording.sees_heads):
        passed(model, ids, recording, {})
    return recording.now


@contextmanager
def unwatched() -> Iterator[None]:
    """The modules as they are, whatever is being recorded around."""
    token = NOW.set(None)
    try:
        yield
    finally:
        NOW.reset(token)


# A network in memory may be proved again: its modules have one set of hooks all the same.
_INSTALLED: WeakKeyDictionary[nn.Module, list[RemovableHandle]] = WeakKeyDictionary()


def install(proof: Proof) -> None:
    """Put the hooks on the proved modules, once, in place of those of an earlier proof."""
    n_blocks = len(proof.blocks)
    for proved in proof.blocks:
        for _, module, _ in _hooks_of(proved, n_blocks):
            for handle in _INSTALLED.pop(module, []):
                handle.remove()
    done: set[tuple[str, int]] = set()
    for proved in proof.blocks:
        for kind, module, put in _hooks_of(proved, n_blocks):
            if (kind, id(module)) not in done:  # a block that runs again has them already
                done.add((kind, id(module)))
                _INSTALLED.setdefault(module, []).append(put(module))


def _hooks_of(proved: ProvedBlock, n_blocks: int) -> Iterator[tuple[str, nn.Module, Any]]:
    ffn, stream = proved.ffn, proved.stream

    def ends(_: nn.Module, _args: Any, returned: Any) -> Any:
        now = NOW.get()
        if now is None or not now.blocks or not now.keeps:
            return None
        returned = _edited(now, returned, "output")
        now.now.output = now.whole(stream_out(returned))
        if now.number == n_blocks - 1 and not now.to_the_end:
            raise _BehindTheLastBlock
        return returned

    yield "begins", proved.block, lambda m: m.register_forward_pre_hook(_begins, with_kwargs=True)
    yield "ends", proved.block, lambda m: m.register_forward_hook(ends)
    if stream.norm_before is not None and stream.kind != PARALLEL:
        yield "middle", stream.norm_before.module, _reader("middle")
    yield "reads", ffn.up.module, _reader("ffn_input")
    yield "up", ffn.up.module, _writer("up", always=False)
    if ffn.gate is not None:
        yield "gate", ffn.gate.module, _writer("gate", always=False)
    yield "edit", ffn.down.module, lambda m: m.register_forward_pre_hook(_edits)
    yield "written", ffn.down.module, lambda m: m.register_forward_hook(_writes)
    if proved.attention is not None:
        attends = proved.attention.module
        yield "edit attention", attends, lambda m: m.register_forward_hook(_attends)
        if proved.attention.heads is not None:
            reads = proved.attention.heads.reads
            yield "heads", reads, lambda m: m.register_forward_pre_hook(_heads)
    if stream.attention is not None:
        yield "attention", stream.attention.module, _writer("attention", always=True)


def _edited(now: Recording, returned: Any, at: str) -> Any:
    """What a module returned, with the edits made that are of this block and place."""
    own = edits_of(now.edits, now.number, at)
    if not own:
        return returned
    values = stream_out(returned)
    batched = values.reshape(*now.shape, values.shape[-1])
    return with_stream(returned, edited(batched, own, at).reshape(values.shape))


def _begins(_: nn.Module, args: Any, kwargs: Any) -> Any:
    now = NOW.get()
    stream = stream_in(args, kwargs)
    if now is None or stream is None:
        return None
    own = edits_of(now.edits, len(now.blocks), "input")
    before = now.blocks[-1].output if now.chained and now.blocks and not own else None
    if before is None:
        before = now.whole(stream) if now.keeps else stream.new_empty(0)
    now.blocks.append(SeenBlock(edited(before, own, "input")))
    if not own:
        return None
    return with_stream_in(args, kwargs, now.now.input.reshape(stream.shape))


def _attends(_: nn.Module, _args: Any, returned: Any) -> Any:
    now = NOW.get()
    if now is None or not now.blocks:
        return None
    returned = _edited(now, returned, "attention")
    if now.sees_heads:
        now.now.heads_wrote = now.whole(stream_out(returned))
        raise _BehindTheLastBlock
    return returned


def _heads(_: nn.Module, args: Any) -> None:
    now = NOW.get()
    if now is not None and now.sees_heads:
        now.now.heads_read = now.whole(args[0])


def _reader(name: str) -> Any:
    def reads(_: nn.Module, args: Any, kwargs: Any) -> None:
        now = NOW.get()
        if now is None or not now.blocks or not now.keeps:
            return
        stream = stream_in(args, kwargs)
        if stream is not None:
            setattr(now.now, name, now.whole(stream))

    return lambda module: module.register_forward_pre_hook(reads, with_kwargs=True)


def _writer(name: str, always: bool) -> Any:
    def wrote(_: nn.Module, _args: Any, returned: Any) -> None:
        now = NOW.get()
        if now is not None and now.blocks and ((always and now.keeps) or now.holds):
            setattr(now.now, name, now.whole(stream_out(returned)))

    return lambda module: module.register_forward_hook(wrote)


def _edits(_: nn.Module, args: Any) -> Any:
    now = NOW.get()
    if now is None or not now.blocks:
        return None
    own = edits_of(now.edits, now.number, "hidden")
    hidden = args[0]
    if now.show:
        _show(now, hidden)
    if not own and not now.holds:
        return None
    if own:
        batched = hidden.reshape(*now.shape, hidden.shape[-1])
        hidden = edited(batched, own).reshape(hidden.shape)
    if now.holds:
        now.now.hidden = now.whole(hidden)
    return (hidden, *args[1:])


def _show(now: Recording, hidden: Tensor) -> None:
    see = now.show.get(now.number)
    if see is not None:
        see(hidden.reshape(*now.shape, hidden.shape[-1]))
    if now.number >= max(now.show):
        raise _BehindTheLastBlock


def _writes(_: nn.Module, _args: Any, returned: Any) -> Any:
    now = NOW.get()
    if now is None or not now.blocks:
        return None
    instead = now.write.get(now.number)
    if instead is not None:
        returned = instead.to(returned).reshape(returned.shape)
    returned = _edited(now, returned, "ffn")
    if now.holds:
        now.now.written = now.whole(returned)
    return returned
