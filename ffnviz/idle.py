"""Collecting garbage while nobody waits for a page.

Streamlit's own collection after every script run is switched off in .streamlit/config.toml: with
torch loaded it costs more than a page run.
"""

import gc
import threading
import time

import streamlit as st

LOOK_EVERY_S = 10.0
QUIET_FOR_S = 3.0


class IdleCollector:
    """Collects once after each stretch of activity, when it has been quiet for a while."""

    def __init__(self) -> None:
        self._last_run = time.monotonic()
        self._collected = True
        threading.Thread(target=self._watch, name="idle-gc", daemon=True).start()

    def page_ran(self) -> None:
        """To be called with every page run."""
        self._last_run = time.monotonic()
        self._collected = False

    def collect_if_idle(self) -> bool:
        """Collect if pages have run since the last time and it is quiet; tells whether it did."""
        if self._collected or time.monotonic() - self._last_run < QUIET_FOR_S:
            return False
        self._collected = True
        gc.collect()
        return True

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK_EVERY_S)
            self.collect_if_idle()


@st.cache_resource(show_spinner=False)
def idle_collector() -> IdleCollector:
    """The one of this process."""
    return IdleCollector()
