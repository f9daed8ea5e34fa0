"""One neuron: its value on every token, and the words it writes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.components.declare import declare

_mount = declare("neuron_card")


def neuron_card(
    title: str,
    texts: Sequence[str],
    values: NDArray[np.floating],
    token: int,
    words: Sequence[str],
    palettes: dict[str, dict[str, str]],
    accent: str,
    stamp: str,
    key: str,
) -> None:
    """Show the neuron.

    Args:
        title: which neuron it is.
        texts: the tokens as typed.
        values: the neuron's hidden value on each token, (T,).
        token: the row to mark.
        words: those its value vector promotes most, the first most.
        palettes: the themes' colours.
        accent: the twin's, for the title.
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
        "accent": accent,
        "stamp": stamp,
    }
    _mount(data=data, key=key)
