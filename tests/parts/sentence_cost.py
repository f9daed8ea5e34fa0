"""What a typed sentence and a click make the Journey compute and send, in counts.

They do not depend on the machine; LIMITS says how large each may be.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ffnviz.pictures.sheet_message import Browser, message
from tests.parts.sheets import drawn

SENTENCE = "but it little out there dark but of dark window and there a of a opened [MASK] a of"
PRODUCTS = ("linear", "addmm", "mm", "mv", "_linear_pointwise")  # of rows with a matrix
SMALL = 2**16  # numbers: a neuron's words take no pass through the network
LIMITS = {
    # Two twins, two blocks, four matrices each; the vocabulary for the logits with the FFN, for
    # those without it, and for the words of the strongest neuron.
    "products, sentence": 19,
    "MB of weights read, sentence": 101,
    "products, token": 3,
    "MB of weights read, token": 51,
    "cells sent, sentence": 4,
    "cells sent, token": 4,
}


class Products(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The matrices that rows are multiplied by meanwhile.

    Attributes:
        matrices: the bytes of each, in the order of the products.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.matrices: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in PRODUCTS:
            tensors = [each for each in args if isinstance(each, Tensor) and each.dim() == 2]
            largest = max(tensors, key=Tensor.numel)
            if largest.numel() >= SMALL:
                self.matrices.append(largest.nbytes)
        return func(*args, **(kwargs or {}))


def sentence_cost() -> dict[str, float]:
    """What LIMITS names, of a sentence that nobody has typed before in this process."""
    browser, found = Browser(), dict[str, float]()
    drawn("journey", text="It rained.")  # what is computed once for a network
    for what, token in (("sentence", "17"), ("token", "4")):
        with Products() as products, torch.inference_mode():
            shown = drawn("journey", text=SENTENCE, token=token)
        header, _ = message(browser, list(shown.cells.values()), "")
        found[f"products, {what}"] = len(products.matrices)
        found[f"MB of weights read, {what}"] = sum(products.matrices) / 1e6
        found[f"cells sent, {what}"] = len(header["new"])
    return found
