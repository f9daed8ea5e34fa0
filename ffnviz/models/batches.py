"""Many texts at once: padded to the longest of a batch, masked, and returned one by one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import torch
from torch import Tensor

from ffnviz.models.arguments import at_least, texts_of
from ffnviz.models.edit import Edit, Edits, all_of
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.network import Network
from ffnviz.models.trace import StreamTrace, Trace, trace_of

MOST_HIDDEN = 2**26  # hidden values of one block in a batch; more texts take several batches
# ids, (B, T), the attention mask, (B, T) or None if all are as long, and edits, to a trace a text
Pass = Callable[[Tensor, Tensor | None, Sequence[Edit]], Iterator[StreamTrace]]


def traces(
    network: Network,
    run: Pass,
    texts: Iterable[str],
    edits: Edits,
    batch: int,
    pads: bool = True,
) -> Iterator[Trace]:
    """The traces of many texts in their order, made as they are asked for; see Model.traces.

    Args:
        network: reads them.
        run: its pass over a batch.
        texts: any number; each is taken when it is needed.
        edits: made in each text.
        batch: the most texts that are read together.
        pads: whether texts of different lengths may be read together.
    """
    texts, edits, batch = texts_of("texts", texts), all_of(edits), at_least("batch", batch)
    # From the end, an edit's token is another one in texts of another length.
    pads = pads and all(min(edit.token_places, default=0) >= 0 for edit in edits)
    if any(isinstance(v, Tensor) and v.ndim > 2 for e in edits for v in (e.value, e.add)):
        raise ValueError("Edits are the same in each text: give tensors (t, n) or (n,).")
    batches = _batches(_encoded(network, texts, edits), network.sizes.d_ff, batch, pads)
    return chain.from_iterable(_batch_traces(network, run, each, edits) for each in batches)


def _batch_traces(
    network: Network, run: Pass, encodings: list[Encoding], edits: Sequence[Edit]
) -> Iterator[Trace]:
    lengths = torch.tensor([len(encoding.tokens) for encoding in encodings])
    n = int(lengths.max())
    ids = torch.tensor([e.ids + e.ids[:1] * (n - len(e.ids)) for e in encodings])
    is_text = torch.arange(n) < lengths[:, None]
    attention_mask = None if bool(is_text.all()) else is_text.to(network.device)
    shape = network.head_shape
    settled = [edit.settled(network.sizes, n, shape) for edit in edits]
    rows = run(ids.to(network.device), attention_mask, settled)
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
