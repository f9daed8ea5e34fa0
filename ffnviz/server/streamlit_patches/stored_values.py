"""Changes: before a run Streamlit puts the widgets' values away as they are stored.

Why: Streamlit first makes of each component's value what a script sees of it, for which it makes a
class, and each class stays until garbage is collected. Here a value is made what a script sees when
a script looks.
Gains: STORED_GAIN
For: Streamlit 1.64 to 1.67.
"""

from contextlib import suppress

from streamlit.runtime.state.session_state import SessionState

from ffnviz.server.streamlit_patches.patch import expect, without

STREAMLITS = SessionState._compact_state  # as it was, to fall back on and to compare with


def check() -> None:
    """Whether Streamlit still puts away what is new by this method, out of the same places."""
    names = SessionState.on_script_will_rerun.__code__.co_names
    expect("_compact_state" in names, "SessionState.on_script_will_rerun calls _compact_state")
    state = SessionState()
    state["key"] = "value"
    _keep_as_stored(state)
    expect(state._old_state == {"key": "value"}, "SessionState._old_state has the older values")
    expect(not len(state._new_session_state), "SessionState._new_session_state has the newer ones")


def apply() -> None:
    """From now on values are put away as they are stored."""
    SessionState._compact_state = keep_as_stored  # type: ignore[method-assign, assignment]


def keep_as_stored(state: SessionState) -> None:
    """Put what was new in the last run to the old; in Streamlit's own way if ours fails."""
    try:
        _keep_as_stored(state)
    except Exception as error:
        without("stored_values", error)
        SessionState._compact_state = STREAMLITS  # type: ignore[method-assign]
        STREAMLITS(state)


def _keep_as_stored(state: SessionState) -> None:
    names = state._key_id_mapper.id_key_mapping
    for key in list(state):
        with suppress(KeyError):  # a widget that no script has described
            widget = state._get_widget_id(key)
            state._old_state[key] = state._getitem(widget, names.get(key, key))
    state._new_session_state.clear()
    state._new_widget_state.clear()
