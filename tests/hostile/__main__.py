"""Inputs that nobody should send, against everything that takes any.

    python -m tests.hostile --n 10000 --seed 1 [--only sentences links folders names corpora]

n sentences, a fifth as many links, a twentieth as many damaged model folders, and as many files of
names and corpora. No stack trace, no markup run, nothing over 5 s, nothing typed lost; what is
refused is refused in a sentence.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

import click

from ffnviz.models.config import ASSETS
from tests.hostile import files, pages
from tests.hostile.fault import Found

GOOD = ASSETS / "models" / "relu"
SHOWN = 12


def trials(n: int, seed: int, only: list[str]) -> dict[str, Found]:
    """All of those kinds, by their names."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        kinds = {
            "sentences": lambda: pages.try_sentences(n, seed),
            "links": lambda: pages.try_links(max(1, n // 5), seed),
            "folders": lambda: files.try_folders(max(1, n // 20), seed, GOOD, work),
            "names": lambda: files.try_names(max(1, n // 20), seed),
            "corpora": lambda: files.try_corpora(max(1, n // 20), seed, work),
        }
        for name in only or kinds:
            found[name] = kinds[name]()
            show(name, found[name])
    return found


def show(name: str, found: Found) -> None:
    """One kind's line, and its faults."""
    took, one = found.slowest
    click.echo(
        f"{name:10} {found.tried:6} tried {found.refused:6} refused {len(found.faults):4} faults, "
        f"slowest {took:.2f} s: {one[:100]}"
    )
    for fault in found.faults[:SHOWN]:
        click.echo(f"    {fault}")


def main() -> None:
    """Try them; ends with 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    logging.disable(logging.ERROR)  # a refused file is logged, too
    found = trials(chosen.n, chosen.seed, chosen.only)
    sys.exit(any(each.faults for each in found.values()))


if __name__ == "__main__":
    main()
