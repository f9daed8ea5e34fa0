"""One neuron: its value on every token, and the words it writes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.components.declare import declare
from ffnviz.components.head import Head

_mount = declare("neuron_card")


def neuron_card(
    head: Head,
    title: str,
    texts: Sequence[str],
    values: NDArray[np.floating],
    token: int,
    words: Sequence[str],
    palettes: dict[str, dict[str, str]],
    stamp: str,
    key: str,
) -> None:
    """Show the neuron.

    Args:
        head: what stands above it; its accent is also the title's.
        title: which neuron it is.
        texts: the tokens as typed.
        values: the neuron's hidden value on each token, (T,).
        token: the row to mark.
        words: those its value vector promotes most, the first most.
        palettes: the themes' colours.
        stamp: told to the browser once painted.
        key: unique on the page.
    """
    data: dict[str, Any] = {
        "title": title,
        "texts": list(texts),
        "values": [float(value) for value in values],
        "token": token,
        "words": list(words),
        "palettes": palettes,
        "head": head.to_json(),
        "stamp": stamp,
    }
    _mount(data=data, key=key)
