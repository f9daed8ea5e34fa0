"""Returning memory while nobody waits for a page.

Streamlit's own collection after every script run is switched off in .streamlit/config.toml: with
torch loaded it costs more than a page run. Sessions that were closed are let go of then, too. A
server that is never quiet collects now and then all the same.
"""

import time

import streamlit as st

from ffnviz.jobs.memory import collect_garbage, repeat
from ffnviz.models.external.memory import large_blocks_go_back
from ffnviz.server.streamlit_patches.closed_sessions import ended_sessions, forget_ended_sessions

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
        """Note that a page ran."""
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


@st.cache_resource(show_spinner=False)
def idle_collector() -> IdleCollector:
    """The IdleCollector of this process."""
    return IdleCollector()
