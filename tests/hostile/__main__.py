"""Sentences and links that nobody should send, through the pages.

    python -m tests.hostile --n 10000 --seed 1 [--only sentences links]

n sentences, and a fifth as many links. No stack trace, no markup run, nothing over 5 s, nothing
typed lost. Damaged model folders, files of names and corpora are drawn by Hypothesis beside what
reads them: `pytest --hypothesis-profile=explore` tries 5,000 of each.
"""

import argparse
import logging
import sys

import click

from tests.hostile.pages import try_links, try_sentences

SHOWN = 12  # faults of a kind


def main() -> None:
    """Try them; ends with 1 if there was a fault."""
    kinds = {"sentences": (try_sentences, 1), "links": (try_links, 5)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=kinds, default=[])
    chosen = parser.parse_args()
    logging.disable(logging.ERROR)
    n_faults = 0
    for name in chosen.only or kinds:
        tries, one_in = kinds[name]
        found = tries(max(1, chosen.n // one_in), chosen.seed)
        took, one = found.slowest
        click.echo(
            f"{name:10} {found.tried:6} tried {len(found.faults):4} faults, "
            f"slowest {took:.2f} s: {one[:100]}"
        )
        for fault in found.faults[:SHOWN]:
            click.echo(f"    {fault}")
        n_faults += len(found.faults)
    sys.exit(n_faults > 0)


if __name__ == "__main__":
    main()
