"""What tells one network's weights from another's, whatever it is called and wherever it lies."""

import hashlib
import json
from collections.abc import Callable

import torch

from ffnviz.model.card import Sizes
from ffnviz.model.views import FfnView

NEURONS, WEIGHTS = 8, 32  # of each block's first layer


def fingerprint(sizes: Sizes, ffn: Callable[[int], FfnView]) -> str:
    """16 hexadecimal digits, from its sizes and a corner of every block's keys.

    Rounded to bfloat16, so that the same weights have the same whether loaded as float32 or not.

    Args:
        sizes: the network's.
        ffn: gives the FFN of a block.
    """
    about = [sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size]
    summed = hashlib.sha256(json.dumps(about).encode())
    for block in range(sizes.n_blocks):
        corner = ffn(block).keys[:NEURONS, :WEIGHTS].detach()
        rounded = corner.to("cpu", torch.bfloat16).contiguous().view(torch.int16)
        summed.update(rounded.numpy().astype("<i2").tobytes())
    return summed.hexdigest()[:16]
