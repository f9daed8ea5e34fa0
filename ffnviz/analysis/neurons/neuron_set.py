"""A set of neurons as a person writes it: "2:17, 2:40-49, 1:3"."""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby

ONE = re.compile(r"(?:([0-9]{1,3}):)?([0-9]{1,6})(?:[-\u2013]([0-9]{1,6}))?", re.ASCII)


class NeuronSetError(ValueError):
    """A text that names no set of neurons: says which piece, and what to write."""


def read_set(text: str, n_blocks: int, d_ff: int, block: int) -> dict[int, tuple[int, ...]]:
    """The neurons that a text names, by block.

    Commas, semicolons or spaces separate pieces: "17" is a neuron of the given block, "2:17" one
    of the second, "2:40-49" ten of them. Blocks count from 1, neurons from 0, as on the page.

    Returns:
        The neurons, sorted, by the number of their block, from 0.

    Raises:
        NeuronSetError: naming the piece that is invalid.
    """
    by_block: dict[int, set[int]] = {}
    for piece in re.split(r"[\s,;]+", text.strip()):
        if not piece:
            continue
        match = ONE.fullmatch(piece)
        if not match:
            raise NeuronSetError(
                f"“{piece}” names no neuron. Write 17 for a neuron of this block, 2:17 for one of "
                "block 2, 2:40-49 for ten of them."
            )
        number = block if match[1] is None else int(match[1]) - 1
        first = int(match[2])
        last = first if match[3] is None else int(match[3])
        if not 0 <= number < n_blocks:
            raise NeuronSetError(f"“{piece}”: the blocks are 1 to {n_blocks}.")
        if last >= d_ff or first >= d_ff:
            raise NeuronSetError(f"“{piece}”: a block's neurons are 0 to {d_ff - 1}.")
        if last < first:
            raise NeuronSetError(f"“{piece}”: the first of a range comes before the last.")
        by_block.setdefault(number, set()).update(range(first, last + 1))
    return {number: tuple(sorted(neurons)) for number, neurons in sorted(by_block.items())}


def written_set(neurons: Mapping[int, Iterable[int]]) -> str:
    """A set as `read_set` reads it, with consecutive neurons as ranges."""
    pieces = [
        f"{block + 1}:{first}" + (f"-{last}" if last > first else "")
        for block, members in sorted(neurons.items())
        for first, last in runs(members)
    ]
    return ", ".join(pieces)


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The runs of consecutive numbers, in order, each as its first and last."""
    by_offset = groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0])
    members = ([number for _, number in run] for _, run in by_offset)
    return [(run[0], run[-1]) for run in members]
