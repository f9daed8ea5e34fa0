"""Index files of neurons, matched to networks by their fingerprints."""

import json
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from ffnviz.models.card import Sizes
from ffnviz.models.config import config
from ffnviz.models.fingerprint import former_fingerprint
from ffnviz.models.views import FfnView

VERSION = 3  # of an index file; before it, fingerprints were of the FFNs' first weights alone


@runtime_checkable
class Fingerprinted(Protocol):
    """What an index is compared with: a network's fingerprints, or what they are made of."""

    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def sizes(self) -> Sizes: ...  # noqa: D102
    def ffn(self, block: int) -> FfnView: ...  # noqa: D102


def is_of(path: Path, network: Fingerprinted) -> bool:
    """Whether an index is of this network, by the fingerprint of its own version of ffnviz."""
    fingerprint = made_of(path)
    return bool(fingerprint) and fingerprint in (
        network.fingerprint, former_fingerprint(network.sizes, network.ffn)
    )  # fmt: skip


def index_for(network: Fingerprinted, usual: Sequence[Path] = ()) -> Path | None:
    """The index of a network: the last of those in the configuration, or else a usual one.

    Args:
        network: its fingerprint is computed only if there is an index to compare it with.
        usual: shown unless the configuration has another.
    """
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
