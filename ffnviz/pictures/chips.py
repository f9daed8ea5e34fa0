"""The tokens of the sentence in the person's own spelling, each with the share it wakes."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, place


def chips_cell(
    head: Head | None,
    accent: str,
    texts: Sequence[str],
    shares: Sequence[float],
    chosen: int,
    what: str,
    key: str,
    on_choose: Callable[[int], Any],
    hides: Sequence[str],
    on_hide: Callable[[int], Any],
    asks: bool = False,
) -> Cell:
    """A chip a token.

    Args:
        head: above the picture, if anything.
        accent: which of the palette's colours the shares have.
        texts: the tokens as typed.
        shares: of the neurons, from 0 to 1, each; empty where they are not shown.
        chosen: the token that drives the page.
        what: what a share means, for the tooltip.
        key: unique on the page.
        on_choose: gives the action for the clicked token's number.
        hides: each token's whole word; empty where nothing can be hidden.
        asks: whether the head asks for something, and so is shown on a phone too.
        on_hide: gives the action for the number of the token whose word is to be hidden.
    """
    data: dict[str, Any] = {
        "texts": list(texts),
        "shares": list(shares),
        "chosen": chosen,
        "what": what,
        "accent": accent,
        "hides": list(hides),
        "asks": asks,
    }
    if head is not None:
        data["head"] = head.to_json()
    n = len(texts)
    events = {"token": event(on_choose, place, n), "hide": event(on_hide, place, n)}
    return Cell("chips", key, data, events=events)
