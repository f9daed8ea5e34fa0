"""Changes: Streamlit reads the theme out of its settings once in a process, not at every run.

Why: `ffnviz app` never changes the settings while it runs.
Gains: THEME_GAIN
For: Streamlit 1.64 to 1.67.
"""

import inspect
from collections.abc import Callable

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from ffnviz.server.streamlit_patches.patch import expect


def check() -> None:
    """Whether Streamlit still fills messages with the theme by this function."""
    read = app_session._populate_theme_msg
    known = inspect.signature(getattr(read, "read", read)).parameters
    expect(list(known) == ["msg", "section"], "_populate_theme_msg takes msg and section")
    names = app_session.AppSession._create_new_session_message.__code__.co_names
    expect(read.__name__ in names, "AppSession looks _populate_theme_msg up in its module")


def apply() -> None:
    """From now on it is read once."""
    read = app_session._populate_theme_msg
    if not isinstance(read, KeptTheme):
        app_session._populate_theme_msg = KeptTheme(read)


class KeptTheme:
    """What Streamlit tells a browser of the theme, by the section of the settings."""

    __name__ = "_populate_theme_msg"

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
