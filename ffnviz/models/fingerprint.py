"""A hash that tells one network's weights from another's, whatever its name and its folder."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from ffnviz.models.card import Sizes
from ffnviz.models.config import config
from ffnviz.models.network import Network

STEP = 61  # a prime, so that no row or column of a large matrix is passed over
WHOLE = 2**16  # values of a tensor that is small enough to be taken whole


def fingerprint(sizes: Sizes, tensors: Iterable[Tensor]) -> str:
    """16 hexadecimal digits, from a network's sizes and every one of its tensors.

    Of a large tensor every 61st value counts, which is some of each row and column: 1 GB of float32
    takes some 0.2 s on one core. All are rounded to bfloat16, so that the same weights have the
    same fingerprint in either precision, on any device.
    """
    digest = hashlib.sha256(_sizes_bytes(sizes))
    for tensor in tensors:
        values = tensor.detach().reshape(-1)
        digest.update(json.dumps(tensor.shape).encode())
        digest.update(_rounded_bytes(values if len(values) <= WHOLE else values[::STEP]))
    return digest.hexdigest()[:16]


def former_fingerprint(network: Network) -> str:
    """The fingerprint in index files before version 3: of 32 weights of each block's first 8 keys.

    It does not tell apart networks that differ only elsewhere.
    """
    digest = hashlib.sha256(_sizes_bytes(network.sizes))
    for block in range(network.sizes.n_blocks):
        digest.update(_rounded_bytes(network.ffn(block).keys[:8, :32].detach()))
    return digest.hexdigest()[:16]


def _sizes_bytes(sizes: Sizes) -> bytes:
    return json.dumps([sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size]).encode()


def _rounded_bytes(values: Tensor) -> bytes:
    """The values in bfloat16, little-endian."""
    rounded = values.to("cpu", torch.bfloat16).contiguous().view(torch.int16)
    return rounded.numpy().astype("<i2").tobytes()


VERSION = 3  # of an index file; before it, fingerprints were of the FFNs' first weights alone


def is_of(path: Path, network: Network) -> bool:
    """Whether an index is of this network, by the fingerprint of its own version of ffnviz."""
    made = made_of(path)
    return bool(made) and made in (network.fingerprint, former_fingerprint(network))


def index_for(network: Network, usual: Sequence[Path] = ()) -> Path | None:
    """The index of a network: the last that fits of the configuration's, or else a usual one."""
    candidates = [*usual, *config().indexes]
    return next((path for path in reversed(candidates) if is_of(path, network)), None)


@lru_cache(maxsize=64)
def made_of(path: Path) -> str:
    """The fingerprint of the network that a file is an index of; empty if it has none."""
    try:
        with zipfile.ZipFile(path) as arrays:
            _header, _, about = arrays.read("about.npy").partition(b"\n")
        return str(json.loads(about).get("network", ""))
    except Exception:  # for a damaged file, zipfile and zlib raise a dozen types
        return ""
