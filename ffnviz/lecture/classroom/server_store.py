"""Whether this server has classes, and the store it keeps them in."""

import os
from functools import cache

from ffnviz.lecture.classroom.store import ClassStore, store_at

ALLOWED = "FFNVIZ_CLASSES"  # set by `ffnviz app` where others can reach it on purpose
STORE = "FFNVIZ_CLASS_STORE"


def allowed() -> bool:
    """Whether classes can be opened at this server."""
    return os.environ.get(ALLOWED) == "1"


@cache
def store() -> ClassStore:
    """Where this server's classes are kept.

    Raises:
        ClassStoreError: if there can be none; the message says why.
    """
    return store_at(os.environ.get(STORE, ""))
