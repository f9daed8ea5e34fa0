"""What all benchmarks share: tables of spreads and ratios that say where they were measured."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence

import torch

from ffnviz.analysis.measuring import Spread
from ffnviz.models.device import processor


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, its columns padded so that it also reads in a terminal."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def machine() -> str:
    """Processor, cores, load average and versions, as one sentence."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{processor()}, {os.cpu_count()} cores; load average {load}; "
        f"Python {platform.python_version()}, PyTorch {torch.__version__}."
    )


def ratios(spreads: Mapping[str, Spread], base: str, what: str, unit: str) -> str:
    """A table of spreads, each also as a ratio to the median of the one named `base`."""
    rows = [
        (
            name,
            spread,
            f"{spread.median / spreads[base].median:.2f}",
            f"{spread.least:.2f}",
            spread.repeats,
        )
        for name, spread in spreads.items()
    ]
    return table((what, unit, "ratio", "least", "repeats"), rows)
