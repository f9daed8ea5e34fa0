"""An estimate of the memory that indexing takes."""

import math
from dataclasses import dataclass

import torch

from ffnviz.analysis.neurons import histogram, partners
from ffnviz.analysis.neurons.counting import EXAMPLES
from ffnviz.analysis.neurons.gathering import BATCH_TOKENS, BATCH_VALUES, LONGEST, TokenClass
from ffnviz.analysis.neurons.partners import Sketching
from ffnviz.models.card import Sizes
from ffnviz.models.external.memory import gigabytes

PROCESS = 350 * 2**20  # Python, PyTorch and pyarrow themselves
PARTS = 3  # at a time: the counts so far, new ones, and their sum
BATCHES = 6  # hidden values of a batch, and intermediate values as large
COUNT, VALUE, TOKEN = 8, 4, 4  # bytes: int64, float32, int32
WAITING = 36  # bytes of a token that waits: a number of Python's, and its place in a list


@dataclass(frozen=True)
class MemoryEstimate:
    """Estimated bytes of each process."""

    part: int  # of the counts of all blocks
    waiting: int  # of buffers for the sketches of all blocks
    weights: int  # of the network
    batch: int  # of the values of one pass
    processes: int  # that each hold all of these

    @property
    def each(self) -> int:
        """The most bytes that one process takes."""
        return PROCESS + self.weights + self.batch + self.waiting + PARTS * self.part

    @property
    def in_words(self) -> str:
        """The estimate in words."""
        more = self.processes > 1
        return (
            f"About {gigabytes(self.each)}{' in each of ' * more}"
            f"{f'{self.processes} processes' * more}: {gigabytes(self.weights)} of weights, "
            f"{gigabytes(self.part)} of counts, up to {PARTS} times"
            f"{f', {gigabytes(self.waiting)} of buffers' * bool(self.waiting)}."
        )


def part_bytes(
    sizes: Sizes, n_blocks: int, n_tags: int, signed: bool, longest: int = LONGEST
) -> int:
    """The bytes of an IndexPart's arrays for so many blocks, without its example texts."""
    d_ff, n_positions = sizes.d_ff, min(longest, sizes.max_tokens)
    sketched = partners.M if d_ff <= partners.MOST else 0
    counts = n_positions + len(TokenClass) + histogram.BINS + sketched + 6
    counts += (1 + signed) * n_tags
    of_block = d_ff * (COUNT * counts + (1 + signed) * EXAMPLES * (VALUE + COUNT + TOKEN))
    return n_blocks * of_block + COUNT * (n_positions + len(TokenClass) + n_tags)


def waiting_bytes(d_ff: int) -> int:
    """The bytes that a block's Sketching holds beside the sketch itself."""
    sketching = Sketching(d_ff, torch.device("cpu"))  # not written to, it takes no memory yet
    held = sum(each.nbytes for each in vars(sketching).values() if isinstance(each, torch.Tensor))
    sketched = partners.M if d_ff <= partners.MOST else 0
    return held - COUNT * sketched * d_ff


def estimated_memory(
    sizes: Sizes,
    n_blocks: int,
    n_tags: int,
    bytes_each: int,
    processes: int,
    signed: bool,
    longest: int = LONGEST,
) -> MemoryEstimate:
    """The memory that counting takes.

    Args:
        sizes: the network's.
        n_blocks: that are counted.
        n_tags: of the corpus.
        bytes_each: of a weight; 0 if the network and the buffers are not in this machine's memory
            but in a GPU's.
        processes: on this machine, with the one that adds up.
        signed: whether hidden can be below zero.
        longest: tokens of a text. One of more than a batch has is a batch of its own, and texts
            wait for others of their length.
    """
    longest = min(longest, sizes.max_tokens)
    values = max(min(BATCH_TOKENS * sizes.d_ff, BATCH_VALUES), longest * sizes.d_ff)
    texts = WAITING * longest * BATCH_TOKENS
    return MemoryEstimate(
        part_bytes(sizes, n_blocks, n_tags, signed, longest),
        n_blocks * waiting_bytes(sizes.d_ff) if bytes_each else 0,
        sizes.n_parameters * bytes_each, BATCHES * VALUE * values + texts, processes,
    )  # fmt: skip


def too_much(estimate: MemoryEstimate, n_blocks: int, free: int) -> str | None:
    """Why an estimate does not fit into so many bytes, and what would; None if it fits."""
    if estimate.each * estimate.processes <= free:
        return None
    of_blocks = PARTS * estimate.part + estimate.waiting
    fixed = estimate.each - of_blocks
    most = math.floor((free / estimate.processes - fixed) / (of_blocks / n_blocks))
    problem = f"{estimate.in_words} {gigabytes(max(0, free))} are free on this machine."
    fewer = [f"look at fewer blocks at a time, at most {most}: --blocks"] * (0 < most < n_blocks)
    fewer += ["use fewer --workers"] * (estimate.processes > 1)
    advice = " or ".join(fewer) or "take a machine with more memory"
    return f"{problem} It may not fit: {advice}."
