"""Changes nothing: reads what a page that lost its server brings along to another.

Why: Streamlit's page comes back without a word, and its first message is then the next thing typed.
To the new server that is a value of a box it has never drawn; the box would be set back to the
URL's, which is what happens without this.
Gains: the sentence; a run is not touched.
For: Streamlit 1.64 to 1.67.
"""

from typing import Any

from ffnviz.server.streamlit_patches.patch import expect, guarded


def check() -> None:
    """Whether a message's text still lies where it is looked for."""
    from streamlit.proto.WidgetStates_pb2 import WidgetState
    from streamlit.runtime.state import SafeSessionState, SessionState
    from streamlit.util import calc_hash

    state = SessionState()
    sent = WidgetState(id=f"$$ID-{calc_hash('box')}-text", string_value="typed")
    state._new_widget_state.set_widget_from_proto(sent)
    text = _text_in(SafeSessionState(state, state.clear), "text")
    expect(text == "typed", "SessionState._new_widget_state.states has what a page sent")


@guarded(otherwise=None)
def text_brought_along(key: str) -> str | None:
    """The text of the box of that key that came with a session's first message, or None."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    return None if context is None else _text_in(context.session_state, key)


def _text_in(session_state: Any, key: str) -> str | None:
    from streamlit.proto.WidgetStates_pb2 import WidgetState

    for widget, value in session_state._state._new_widget_state.states.items():
        sent = getattr(value, "value", None)  # none, if the box was not filled yet
        if str(widget).endswith(f"-{key}") and isinstance(sent, WidgetState):
            return sent.string_value if sent.HasField("string_value") else None
    return None
