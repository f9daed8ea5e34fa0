"""What Streamlit does anew for every run, and need not."""

from collections.abc import Callable
from contextlib import suppress

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state.session_state import SessionState

_streamlits = SessionState._compact_state  # as it was, to be compared with


def patch_reruns() -> None:
    """From now on this process does it once, or not at all."""
    one_theme_for_all()
    SessionState._compact_state = keep_as_stored  # type: ignore[method-assign, assignment]


def keep_as_stored(state: SessionState) -> None:
    """Put what was new in the last run to the old, as Streamlit does before each run.

    Streamlit first makes of each component's value what a script sees of it, for which it makes a
    class, and each class stays until garbage is collected. Here the value is kept as it is: it is
    made what a script sees when a script looks.
    """
    names = state._key_id_mapper.id_key_mapping
    for key in list(state):
        with suppress(KeyError):  # a widget that no script has described
            widget = state._get_widget_id(key)
            state._old_state[key] = state._getitem(widget, names.get(key, key))
    state._new_session_state.clear()
    state._new_widget_state.clear()


def one_theme_for_all() -> None:
    """From now on Streamlit reads the theme out of its settings once, and not for every run.

    That was a thirteenth of a page run, and `ffnviz app` never changes them.
    """
    read = app_session._populate_theme_msg
    if not isinstance(read, KeptTheme):
        app_session._populate_theme_msg = KeptTheme(read)


class KeptTheme:
    """What Streamlit tells a browser of the theme, by the section of the settings."""

    def __init__(self, read: Callable[[CustomThemeConfig, str], None]) -> None:
        self.read = read
        self._kept: dict[str, CustomThemeConfig] = {}

    def __call__(self, msg: CustomThemeConfig, section: str = "theme") -> None:
        """Fill a message with it."""
        if section not in self._kept:
            fresh = CustomThemeConfig()
            self.read(fresh, section)
            self._kept[section] = fresh
        msg.MergeFrom(self._kept[section])
