"""Which index files are to be shown in place of the usual ones; a file knows its network.

What was asked for stands in the environment, so that every worker reads the same.
"""

import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

VERSION = 3  # of an index file; before it, fingerprints were of the FFNs' first weights alone
ASKED = "FFNVIZ_INDEXES"  # in the environment: paths, as JSON


def show_indexes(paths: Sequence[Path]) -> None:
    """Have this process, and those it starts, show these, each with the network it is of."""
    os.environ[ASKED] = json.dumps([str(path.resolve()) for path in paths])


def index_for(fingerprint: Callable[[], str], usual: Sequence[Path] = ()) -> Path | None:
    """The index of the network with this fingerprint: of those asked for the last, or a usual one.

    Args:
        fingerprint: computes it, if there is anything to compare it with.
        usual: what is shown unless another was asked for.
    """
    asked = map(Path, json.loads(os.environ.get(ASKED) or "[]"))
    candidates = [*usual, *asked]
    mine = fingerprint() if candidates else ""
    return next((path for path in reversed(candidates) if made_of(path) == mine), None)


def fingerprint_in(about: Mapping[str, Any]) -> str:
    """What an index says of its network; empty if it was made before version 3."""
    return str(about["network"]) if about["version"] >= VERSION else ""


@lru_cache(maxsize=64)
def made_of(path: Path) -> str:
    """The fingerprint of the network that a file is an index of; empty if it says none."""
    try:
        with zipfile.ZipFile(path) as arrays:
            _header, _, about = arrays.read("about.npy").partition(b"\n")
        return fingerprint_in(json.loads(about))
    except Exception:  # of a damaged file, zipfile and zlib raise a dozen kinds
        return ""
