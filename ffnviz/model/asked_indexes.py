"""Which index files are to be shown in place of the usual ones; a file knows its network.

What was asked for stands in the environment, so that every worker reads the same.
"""

import json
import os
import zipfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

ASKED = "FFNVIZ_INDEXES"  # in the environment: paths, as JSON


def show_indexes(paths: Sequence[Path]) -> None:
    """Have this process, and those it starts, show these, each with the network it is of."""
    os.environ[ASKED] = json.dumps([str(path.resolve()) for path in paths])


def index_for(mark: Callable[[], str]) -> Path | None:
    """The one that was asked for and is of the network with this fingerprint; of several the last.

    Args:
        mark: computes the fingerprint, if anything was asked for.
    """
    asked = json.loads(os.environ.get(ASKED) or "[]")
    if not asked:
        return None
    mine = mark()
    return next((Path(path) for path in reversed(asked) if made_of(Path(path)) == mine), None)


@lru_cache(maxsize=64)
def made_of(path: Path) -> str:
    """The fingerprint of the network that a file is an index of; empty if it says none."""
    try:
        with zipfile.ZipFile(path) as arrays:
            _header, _, about = arrays.read("about.npy").partition(b"\n")
        return str(json.loads(about).get("network", ""))
    except Exception:  # of a damaged file, zipfile and zlib raise a dozen kinds
        return ""
