"""Changes: Streamlit forgets sessions whose tabs were closed, once nobody can come back to them.

Why: it does so by itself only when another session is opened or closed, however late: until then
each keeps its widgets and three file descriptors. The idle collection asks for it.
Gains: after 1,000 sessions came and went a server held 771 MB, of 1,028 before (`benchmarks.soak`,
with the idle collection).
For: Streamlit 1.64 to 1.67.
"""

import threading
from typing import Any

from ffnviz.server.streamlit_patches.patch import expect, guarded

WAIT_S = 3.0


def check() -> None:
    """Whether closed sessions still lie where they are looked for."""
    from streamlit.runtime import Runtime
    from streamlit.runtime.memory_session_storage import MemorySessionStorage

    cache: Any = MemorySessionStorage()._cache
    for name in ("_data", "items", "expire"):
        expect(hasattr(cache, name), f"MemorySessionStorage._cache has {name}")
    expect(hasattr(Runtime, "_get_async_objs"), "Runtime has _get_async_objs")


def _closed_sessions() -> Any:
    """Streamlit's store of sessions whose tabs were closed; None where no server runs."""
    from streamlit.runtime import exists, get_instance

    if not exists():
        return None
    manager = getattr(get_instance(), "_session_mgr", None)  # a test's runtime has none
    return manager and manager._session_storage._cache


@guarded(otherwise=False)
def ended_sessions() -> bool:
    """Whether there are sessions closed so long ago that nobody can come back to them."""
    cache = _closed_sessions()
    # Its length is taken after what has expired was thrown away: `_data` still has it.
    return cache is not None and len(cache._data) > len(cache.items())


@guarded(otherwise=None)
def forget_ended_sessions() -> None:
    """Have Streamlit drop the ended sessions, in its own event loop."""
    from streamlit.runtime import get_instance

    cache = _closed_sessions()
    if cache is None:
        return
    done = threading.Event()

    def expire() -> None:
        cache.expire()
        done.set()

    get_instance()._get_async_objs().eventloop.call_soon_threadsafe(expire)
    done.wait(WAIT_S)
