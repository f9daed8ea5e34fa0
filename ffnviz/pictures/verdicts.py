"""Claims with their verdicts, in groups; of groups with titles one is open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, place


@dataclass(frozen=True)
class Claim:
    """One claim."""

    claim: str  # what is said
    kind: str  # "holds", "constructed", "only if", "fails" or "undecided"; its colour
    sign: str  # one character for it
    verdict: str  # in words, with what limits it
    expected: str  # what one sees if it is true
    measured: str  # what was seen
    check: str  # the number against its tolerance
    said: str = ""  # by whom, for the file
    limits: str = ""  # the end of the verdict, which says no more than when or where it is so
    label: str = ""  # what stands before the claim: where one reads it, or that it is often thought


def verdicts_cell(
    head: Head,
    groups: Sequence[tuple[str, Sequence[Claim]]],
    key: str,
    dense: bool = False,
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """Claims with their verdicts.

    Args:
        head: above the picture.
        groups: a title, empty if there is none, and its claims.
        key: unique on the sheet.
        dense: verdict and measurement in one line, without the test.
        on_choose: gives the action for a group's number, when one asks to be led there.
    """
    data = {
        "groups": [[title, [vars(claim) for claim in claims]] for title, claims in groups],
        "dense": dense,
        "head": head.to_json(),
    }
    events = {} if on_choose is None else {"group": event(on_choose, place, len(groups))}
    return Cell("verdicts", key, data, events=events)
