"""How a trace grows with the number of tokens, the width of the FFN and the number of blocks."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from benchmarks.measure import machine, table
from ffnviz.analysis.measuring import in_turn
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import EncoderTrace, initial_encoder

N_TOKENS = 24
REPEATS = 60

Case = tuple[int, EncoderConfig, int]  # the value that grows, the configuration, T

GROWTH: dict[str, list[Case]] = {
    "T": [(n, EncoderConfig(), n) for n in (8, 16, 32, 64, 128)],
    "d_ff": [(n, EncoderConfig(d_ff=n), N_TOKENS) for n in (512, 1_024, 2_048, 4_096, 8_192)],
    "blocks": [(n, EncoderConfig(n_blocks=n), N_TOKENS) for n in (1, 2, 4, 8)],
}


def tensors(record: Any) -> Iterator[Tensor]:
    """All tensors that a record holds, however deep."""
    if isinstance(record, Tensor):
        yield record
    elif isinstance(record, tuple):
        for part in record:
            yield from tensors(part)
    elif is_dataclass(record):
        for field in fields(record):
            yield from tensors(getattr(record, field.name))


def megabytes(trace: EncoderTrace) -> float:
    """The memory of a trace. Queries, keys and values are views of one storage: it counts once."""
    storages = [tensor.untyped_storage() for tensor in tensors(trace)]
    return sum({s.data_ptr(): s.nbytes() for s in storages}.values()) / 1e6


@torch.inference_mode()
def rows(quantity: str, cases: list[Case]) -> list[list[object]]:
    """A line for each value of one quantity, timed in turn."""
    tasks, memory = {}, {}
    for value, config, n_tokens in cases:
        task = partial(initial_encoder(config, seed=0).eval(), torch.arange(n_tokens))
        tasks[f"{value:,}"] = task
        memory[f"{value:,}"] = megabytes(task())
    return [
        [quantity, value, spread, f"{spread.least:.2f}", f"{memory[value]:.2f}"]
        for value, spread in in_turn(tasks, REPEATS).items()
    ]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("\n## Growth of a trace\n")
    print(f"{machine()} One thread.")
    print(
        f"{REPEATS} runs of each, in turn, in milliseconds; what does not grow is as in the twins,"
    )
    print(f"with T = {N_TOKENS}. MB is the memory of all that the trace holds.\n")
    header = ["grows", "to", "median (quartiles)", "least", "MB"]
    print(table(header, [row for growth in GROWTH.items() for row in rows(*growth)]))


if __name__ == "__main__":
    main()
