"""One neuron: its value on every token, and the words it writes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import entry, place

_mount = declare("neuron_card")


def neuron_card(
    head: Head,
    title: str,
    texts: Sequence[str],
    values: NDArray[np.floating],
    token: int,
    words: Sequence[str],
    stamp: str,
    key: str,
    on_meet: Callable[[int | None], None],
) -> None:
    """Show the neuron.

    A click on a token's value hands the token to `on_meet`, a click on the button None.

    Args:
        head: what stands above it; its accent is also the title's.
        title: which neuron it is.
        texts: the tokens as typed.
        values: the neuron's hidden value on each token, (T,).
        token: the row to mark.
        words: those its value vector promotes most, the first most.
        stamp: told to the browser once painted.
        key: unique on the page.
        on_meet: called with a token's number, or None.
    """

    def clicked() -> None:
        met = st.session_state[key].meet
        row = place(entry(met, "token"), len(texts))
        if row is not None or met == {"token": None}:
            on_meet(row)

    data: dict[str, Any] = {
        "title": title,
        "texts": list(texts),
        "values": [float(value) for value in values],
        "token": token,
        "words": list(words),
        "head": head.to_json(),
        "stamp": stamp,
    }
    _mount(data, key=key, on_meet_change=clicked)
