"""Processes that this program starts end with it, also when it is killed and can tell nobody."""

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """End this process, started by `multiprocessing`, as soon as the one that started it ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for, args=(parent,), daemon=True).start()


def _wait_for(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
