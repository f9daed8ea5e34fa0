"""What tells one network's weights from another's, whatever it is called and wherever it lies."""

import hashlib
import json
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from ffnviz.models.card import Sizes
from ffnviz.models.views import FfnView

STEP = 61  # a prime, so that no row or column of a large matrix is passed over
WHOLE = 2**16  # values of a tensor that is small enough to be taken whole


def fingerprint(sizes: Sizes, tensors: Iterable[Tensor]) -> str:
    """16 hexadecimal digits, from a network's sizes and every one of its tensors.

    Of a large tensor every 61st value counts, which is some of each row and column: 1 GB of
    float32 takes some 0.2 s on one core. All are rounded to bfloat16, so that the same weights
    have the same fingerprint in either precision, on any device.

    Args:
        sizes: the network's.
        tensors: all its weights, in their order.
    """
    about = [sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size]
    summed = hashlib.sha256(json.dumps(about).encode())
    for tensor in tensors:
        values = tensor.detach().reshape(-1)
        some = values if len(values) <= WHOLE else values[::STEP]
        rounded = some.to("cpu", torch.bfloat16).contiguous().view(torch.int16)
        summed.update(json.dumps(tensor.shape).encode())
        summed.update(rounded.numpy().astype("<i2").tobytes())
    return summed.hexdigest()[:16]


def former_fingerprint(sizes: Sizes, ffn: Callable[[int], FfnView]) -> str:
    """What index files before version 3 have: of each block's first 8 keys, 32 weights.

    Networks that differ elsewhere alone are not told apart by it.
    """
    about = [sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size]
    summed = hashlib.sha256(json.dumps(about).encode())
    for block in range(sizes.n_blocks):
        corner = ffn(block).keys[:8, :32].detach()
        rounded = corner.to("cpu", torch.bfloat16).contiguous().view(torch.int16)
        summed.update(rounded.numpy().astype("<i2").tobytes())
    return summed.hexdigest()[:16]
