"""Giving memory back, if possible while nobody waits for a page.

Streamlit's own collection after every script run is switched off in .streamlit/config.toml: with
torch loaded it costs more than a page run. And Streamlit forgets a session that was closed only
when another is opened, however late: until then it keeps its widgets and three file descriptors.
A server that is never quiet collects now and then all the same: what was imported is left out,
so that it costs a page run.
"""

import threading
import time

import streamlit as st
from streamlit.runtime import exists, get_instance

from ffnviz.jobs.allocator import large_blocks_go_back
from ffnviz.jobs.daemon_threads import repeat
from ffnviz.jobs.garbage import collect_garbage

LOOK_EVERY_S = 10.0
QUIET_FOR_S = 3.0
AT_LEAST_EVERY_S = 30.0  # while pages run


class IdleCollector:
    """Collects after each stretch of activity, and after sessions have ended, when it is quiet."""

    def __init__(self) -> None:
        self._last_run = self._last_time = time.monotonic()
        self._collected = True
        large_blocks_go_back()
        repeat("idle-gc", LOOK_EVERY_S, self.collect_if_idle)

    def page_ran(self) -> None:
        """To be called with every page run."""
        self._last_run = time.monotonic()
        self._collected = False

    def collect_if_idle(self) -> bool:
        """Collect if there can be garbage, and it is quiet or has not been for long.

        Tells whether it did.
        """
        now = time.monotonic()
        if now - self._last_run < QUIET_FOR_S and now - self._last_time < AT_LEAST_EVERY_S:
            return False
        if self._collected and not ended_sessions():
            return False
        self._collected, self._last_time = True, now
        forget_ended_sessions()
        collect_garbage()
        return True


def _closed_sessions() -> object:
    """Streamlit's store of sessions whose tabs were closed; None where no server runs."""
    if not exists():
        return None
    manager = getattr(get_instance(), "_session_mgr", None)  # a test's runtime has none
    return getattr(getattr(manager, "_session_storage", None), "_cache", None)


def ended_sessions() -> bool:
    """Whether there are sessions closed so long ago that nobody can come back to them."""
    cache = _closed_sessions()
    # Its length is taken after what has expired was thrown away: `_data` still has it.
    return cache is not None and len(cache._data) > len(cache.lru_items())  # type: ignore[attr-defined]


def forget_ended_sessions() -> None:
    """Have Streamlit drop them, in its own event loop, where alone its sessions may be touched."""
    cache = _closed_sessions()
    if cache is None:
        return
    done = threading.Event()

    def expire() -> None:
        cache.expire()  # type: ignore[attr-defined]
        done.set()

    get_instance()._get_async_objs().eventloop.call_soon_threadsafe(expire)
    done.wait(QUIET_FOR_S)


@st.cache_resource(show_spinner=False)
def idle_collector() -> IdleCollector:
    """The one of this process."""
    return IdleCollector()
