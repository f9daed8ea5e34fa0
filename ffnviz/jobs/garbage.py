"""Garbage collection at moments when no page waits for it."""

import gc

from ffnviz.jobs.allocator import give_back


def freeze_loaded_objects() -> None:
    """Exempt everything loaded so far from garbage collection."""
    gc.collect()
    gc.freeze()


def collect_garbage() -> None:
    """Collect garbage, and return freed memory to the system."""
    gc.collect()
    give_back()
