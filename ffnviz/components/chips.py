"""The tokens of the sentence in the person's own spelling, each with the share it wakes."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ffnviz.components.declare import declare
from ffnviz.components.head import Head
from ffnviz.components.sent import place

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
    hides: str = "",
    on_hide: Callable[[], None] = lambda: None,
) -> None:
    """Show a chip a token; a click hands its number to `on_choose` before the page runs again.

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
        hides: the word of the chosen token, if it can be hidden.
        on_hide: called when the person asks for that.
    """

    def clicked() -> None:
        token = place(st.session_state[key].token, len(texts))
        if token is not None:
            on_choose(token)

    data: dict[str, Any] = {
        "texts": list(texts),
        "shares": list(shares),
        "chosen": chosen,
        "what": what,
        "accent": accent,
        "hides": hides,
        "stamp": stamp,
    }
    if head is not None:
        data["head"] = head.to_json()
    _mount(data, key=key, on_token_change=clicked, on_hide_change=on_hide)
