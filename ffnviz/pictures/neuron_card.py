"""One neuron: its value on every token, and the words it writes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import entry, place


def neuron_card_cell(
    head: Head,
    title: str,
    texts: Sequence[str],
    values: NDArray[np.floating],
    token: int,
    words: Sequence[str],
    key: str,
    on_meet: Callable[[int | None], Any],
) -> Cell:
    """One neuron.

    A click on a token's value hands the token to `on_meet`, a click on the button None.

    Args:
        head: above the picture; its accent is also the title's.
        title: which neuron it is.
        texts: the tokens as typed.
        values: the neuron's hidden value on each token, (T,).
        token: the row to mark.
        words: those its value vector promotes most, the first most.
        key: unique on the sheet.
        on_meet: gives the action for a token's number, or None.
    """

    def clicked(met: Any) -> Any:
        row = place(entry(met, "token"), len(texts))
        return on_meet(row) if row is not None or met == {"token": None} else None

    data: dict[str, Any] = {
        "title": title,
        "texts": list(texts),
        "values": [float(value) for value in values],
        "token": token,
        "words": list(words),
        "head": head.to_json(),
    }
    return Cell("neuron_card", key, data, events={"meet": clicked})
