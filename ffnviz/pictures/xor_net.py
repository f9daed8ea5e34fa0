"""A network of two hidden units whose nine weights a person chooses; the browser runs it."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, numbers

WEIGHTS = 9  # of unit 1: a, b, bias; of unit 2 likewise; of the output: h₁, h₂, bias
MOST = 9.0  # of any weight, without its sign


def xor_cell(
    key: str,
    head: Head,
    weights: Sequence[float],
    relu: bool,
    on_weights: Callable[[list[float]], Any],
    on_phi: Callable[[bool], Any],
) -> Cell:
    """The network, what it makes of the four inputs, and how many are right.

    Args:
        key: unique on the sheet.
        head: above the picture.
        weights: the nine.
        relu: whether φ is ReLU; else there is none.
        on_weights: gives the action for nine other ones.
        on_phi: gives the action for φ on or off.
    """
    data = {"head": head.to_json(), "weights": list(weights), "relu": relu, "most": MOST}
    events = {
        "weights": event(on_weights, numbers, WEIGHTS, -MOST, MOST),
        "phi": lambda sent: on_phi(sent is True),
    }
    return Cell("xor_net", key, data, events=events)
