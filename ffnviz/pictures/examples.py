"""A row of example sentences, grouped by what they show."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import event, one_of


def examples_cell(
    groups: Sequence[tuple[str, Sequence[str]]],
    key: str,
    on_choose: Callable[[str], Any],
    why: Mapping[str, str] | None = None,
) -> Cell:
    """Sentences to start from, in groups; a click on one asks for `on_choose` of it.

    Args:
        groups: a title and its sentences, each.
        key: unique on the page.
        on_choose: called with the clicked sentence.
        why: sentence → why it is there.
    """
    sentences = [sentence for _, group in groups for sentence in group]
    data = {
        "groups": [{"title": title, "sentences": list(group)} for title, group in groups],
        "why": dict(why or {}),
    }
    return Cell("examples", key, data, events={"sentence": event(on_choose, one_of, sentences)})
