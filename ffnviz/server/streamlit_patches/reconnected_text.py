"""What a page that lost its server brings along to another: the text in its sentence box.

Streamlit's page comes back without a word, and its first message is then the next thing typed. To
the new server that is a value of a box it has never drawn; the box would be set back to the URL's.
"""

from streamlit.runtime.scriptrunner import get_script_run_ctx

ENDING = "-text"  # of the id of the widget whose key is "text"


def text_brought_along() -> str | None:
    """The text that came with the first message of a session; None if none did."""
    context = get_script_run_ctx()
    state = getattr(getattr(context, "session_state", None), "_state", None)
    came = getattr(getattr(state, "_new_widget_state", None), "states", {})
    for widget, value in came.items():
        proto = getattr(value, "value", None)
        text = getattr(proto, "string_value", None)
        if str(widget).endswith(ENDING) and isinstance(text, str):
            return text
    return None
