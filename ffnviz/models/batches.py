"""Many texts at once: padded to the longest of a batch, masked, and handed out one by one."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor

from ffnviz.models.arguments import check_text
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.network import Network
from ffnviz.models.trace import StreamTrace, Trace

BATCH = 64  # texts
AT_ONCE = 2**26  # hidden values of one block in a batch; more texts are read in several
# ids, (B, T), where a text is, (B, T) or None if all are as long, and edits, to a pass a text.
Pass = Callable[[Tensor, Tensor | None, Sequence[Edit]], Iterator[StreamTrace]]


def traces(
    network: Network,
    run: Pass,
    texts: Iterable[str],
    edits: Sequence[Edit],
    batch: int,
    pads: bool = True,
) -> Iterator[Trace]:
    """The traces of many texts in their order, while they are read; see Model.traces.

    Args:
        network: whose they are.
        run: its pass over a batch.
        texts: any number; they are asked for as they are needed.
        edits: made in each.
        batch: how many texts are read together at most.
        pads: whether texts of different lengths may be.
    """
    if isinstance(texts, str):
        raise TypeError("Give texts in a list; of one text, `trace` makes the trace.")
    if batch < 1:
        raise ValueError(f"batch = {batch}: at least 1 text is read at a time.")
    if any(isinstance(v, Tensor) and v.ndim > 2 for e in edits for v in (e.value, e.add)):
        raise ValueError("Edits are the same in each text: give tensors (t, n) or (n,).")
    return _traces(network, run, texts, edits, batch, pads)


def _traces(
    network: Network,
    run: Pass,
    texts: Iterable[str],
    edits: Sequence[Edit],
    batch: int,
    pads: bool,
) -> Iterator[Trace]:
    for some in _batches(_encoded(network, texts, edits), network.sizes.d_ff, batch, pads):
        lengths = torch.tensor([len(encoding.tokens) for encoding in some])
        n = int(lengths.max())
        ids = torch.tensor([e.ids + e.ids[:1] * (n - len(e.ids)) for e in some])
        there = torch.arange(n) < lengths[:, None]
        filled = None if bool(there.all()) else there.to(network.device)
        passes = run(ids.to(network.device), filled, edits)
        for encoding, row in zip(some, passes, strict=True):
            yield Trace(
                row.ids, row.embedding, row.blocks, row.final, row.unembed,
                text=encoding.text, tokens=encoding.tokens, n_left_out=encoding.n_left_out,
                network=network, edits=tuple(edits),
            )  # fmt: skip


def _batches(
    encodings: Iterable[Encoding], d_ff: int, batch: int, pads: bool
) -> Iterator[list[Encoding]]:
    some: list[Encoding] = []
    longest = 0
    for encoding in encodings:
        n = len(encoding.tokens)
        fits = len(some) < batch and max(longest, n) * (len(some) + 1) * d_ff <= AT_ONCE
        if some and (not fits or (not pads and n != longest)):
            yield some
            some, longest = [], 0
        some.append(encoding)
        longest = max(longest, n)
    if some:
        yield some


def _encoded(network: Network, texts: Iterable[str], edits: Sequence[Edit]) -> Iterator[Encoding]:
    sizes = network.sizes
    for number, text in enumerate(texts):
        check_text(text)
        encoding = network.tokenizer.encode(text, sizes.max_tokens)
        if not encoding.tokens:
            raise ValueError(f"Text {number} is empty: there is nothing to trace.")
        for edit in edits:
            try:
                edit.check(sizes.n_blocks, sizes.d_ff, len(encoding.tokens), sizes.d_model)
            except ValueError as error:
                raise ValueError(f"Text {number}: {error}") from error
        yield encoding
