"""The tokens of the sentence in the person's own spelling, each with the share it wakes."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import place

_mount = declare("chips")


def chips(
    head: Head | None,
    accent: str,
    texts: Sequence[str],
    shares: Sequence[float],
    chosen: int,
    what: str,
    stamp: str,
    key: str,
    on_choose: Callable[[int], None],
    hides: Sequence[str],
    on_hide: Callable[[int], None],
    asks: bool = False,
) -> None:
    """Show a chip a token; a click on one tells its number before the page runs again.

    Args:
        head: what stands above them, if anything.
        accent: which of the palette's colours the shares have.
        texts: the tokens as typed.
        shares: of the neurons, from 0 to 1, each.
        chosen: the token that drives the page.
        what: what a share means, for the tooltip.
        stamp: told to the browser once painted.
        key: unique on the page.
        on_choose: called with the clicked token's number.
        hides: each token's whole word; empty where nothing can be hidden.
        asks: whether the head asks for something, and so is shown on a phone too.
        on_hide: called with the number of the token whose word is to be hidden.
    """

    def told(event: str, do: Callable[[int], None]) -> Callable[[], None]:
        def hear() -> None:
            token = place(getattr(st.session_state[key], event), len(texts))
            if token is not None:
                do(token)

        return hear

    data: dict[str, Any] = {
        "texts": list(texts),
        "shares": list(shares),
        "chosen": chosen,
        "what": what,
        "accent": accent,
        "hides": list(hides),
        "asks": asks,
        "stamp": stamp,
    }
    if head is not None:
        data["head"] = head.to_json()
    _mount(data, key=key, on_token_change=told("token", on_choose),
           on_hide_change=told("hide", on_hide))  # fmt: skip
