"""Index files in place of the usual ones, matched by the network's fingerprint."""

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
    """What of a network tells whether an index is its own."""

    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def sizes(self) -> Sizes: ...  # noqa: D102
    def ffn(self, block: int) -> FfnView: ...  # noqa: D102


def is_of(path: Path, network: Fingerprinted) -> bool:
    """Whether an index is the network's; one of an older ffnviz is judged by its own measure."""
    fingerprint = made_of(path)
    return bool(fingerprint) and fingerprint in (
        network.fingerprint, former_fingerprint(network.sizes, network.ffn)
    )  # fmt: skip


def index_for(network: Fingerprinted, usual: Sequence[Path] = ()) -> Path | None:
    """The index of a network: of those asked for the last, or a usual one.

    Args:
        network: whose; its fingerprint is computed only if there is anything to compare it with.
        usual: what is shown unless another was asked for.
    """
    candidates = [*usual, *config().indexes]
    return next((path for path in reversed(candidates) if is_of(path, network)), None)


@lru_cache(maxsize=64)
def made_of(path: Path) -> str:
    """The fingerprint of the network that a file is an index of; empty if it says none."""
    try:
        with zipfile.ZipFile(path) as arrays:
            _header, _, about = arrays.read("about.npy").partition(b"\n")
        return str(json.loads(about).get("network", ""))
    except Exception:  # of a damaged file, zipfile and zlib raise a dozen kinds
        return ""
