"""Garbage collection where a collection after every page run would cost more than the page."""

import gc

from ffnviz.jobs.allocator import give_back


def freeze_loaded_objects() -> None:
    """From now on no collection looks at what is there now: modules, and what they made."""
    gc.collect()
    gc.freeze()


def collect_garbage() -> None:
    """Collect, and have glibc return what is free to the system."""
    gc.collect()
    give_back()
