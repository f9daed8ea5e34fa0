"""The FFN of one token as one picture: expand, bend, compress, add."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.activation_map import scale_end
from ffnviz.pictures.cell import Cell, Head, event, one_of, place, to_data, truth
from ffnviz.pictures.payload import as_order


@dataclass(frozen=True)
class Stage:
    """One vector on its way through the FFN."""

    name: str  # unique among the stages
    title: str  # what it is
    shape: str  # in the notation of the field
    note: str  # a live number about it
    values: NDArray[np.floating]  # (n,), in the order of the weights
    neurons: bool  # True if its entries are hidden neurons, which can be chosen
    scale: str  # stages of the same scale share their largest magnitude


def ffn_cell(
    head: Head,  # above the picture; its accent is also the steps'
    stages: list[Stage],  # in order
    # what leads from each stage to the next: symbol and words; one fewer than stages
    steps: list[tuple[str, str]],
    # (d_ff,), the neuron to draw at each place of the stages that show neurons
    order: NDArray[np.integer],
    neuron: int | None,  # the neuron to mark, if any
    # whose vectors these are, as its place among all tokens as typed
    token: tuple[int, Sequence[str]],
    key: str,
    on_choose: Callable[[int], Any],  # gives the action for a clicked neuron
    # of stages whose title leads to a part about them, its title
    doors: Mapping[str, str] | None = None,
    on_door: Callable[[str], Any] = lambda _: None,  # gives the action for such a stage
    # whether the FFN is switched off: its vectors are pale, and the stream passes it by
    is_off: bool = False,
    # gives the action that switches it off, or on
    on_switch: Callable[[bool], Any] = lambda _: None,
    # gives the action for another token, as all are gone through in turn
    on_token: Callable[[int], Any] = lambda _: None,
) -> Cell:
    """The stages from left to right (top to bottom where it is narrow)."""
    leads_to = doors or {}
    scales = {
        scale: scale_end([stage.values for stage in stages if stage.scale == scale])
        for scale in dict.fromkeys(stage.scale for stage in stages)
    }
    described = [
        {
            **to_data(stage, "scale"),
            "door": leads_to.get(stage.name, ""),
            "largest": scales[stage.scale],
            "beyond": bool(np.abs(stage.values).max() > scales[stage.scale]),
        }
        for stage in stages
    ]
    header: dict[str, Any] = {
        "stages": described,
        "steps": [{"symbol": symbol, "words": words} for symbol, words in steps],
        "neuron": neuron,
        "token": token[1][token[0]],
        "at": token[0],
        "tokens": len(token[1]),
        "off": is_off,
        "head": head.to_json(),
        "accent": head.accent,
    }
    arrays: dict[str, NDArray[Any]] = {s.name: s.values.astype(np.float16) for s in stages}
    arrays["order"] = as_order(order)
    events = {
        "neuron": event(on_choose, place, len(order)),
        "door": event(on_door, one_of, list(leads_to)),
        "off": event(on_switch, truth),
        "token": event(on_token, place, len(token[1])),
    }
    return Cell("ffn_picture", key, header, arrays, events)
