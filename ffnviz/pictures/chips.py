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
    joins: Sequence[bool] = (),
    unhides: Sequence[str] = (),
    on_unhide: Callable[[int], Any] = lambda _: None,
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
        joins: whether each goes on with the character of the token before it.
        unhides: the word that was in the place of each mask; empty where nobody knows.
        on_unhide: gives the action for the number of the mask whose word is to be back.
    """
    data: dict[str, Any] = {
        "texts": list(texts),
        "shares": list(shares),
        "chosen": chosen,
        "what": what,
        "accent": accent,
        "hides": list(hides),
        "asks": asks,
        "joins": list(joins),
        "unhides": list(unhides),
    }
    if head is not None:
        data["head"] = head.to_json()
    n = len(texts)
    asked = {"token": on_choose, "hide": on_hide, "unhide": on_unhide}
    events = {name: event(answer, place, n) for name, answer in asked.items()}
    return Cell("chips", key, data, events=events)
