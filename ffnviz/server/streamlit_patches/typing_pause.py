"""Changes: how long the sentence box waits for another key is read without pandas.

Why: Streamlit takes a pause as a text alone, and reads that with pandas.Timedelta.
Gains: 65 MB of memory (pandas, and the pyarrow that it loads) and its import, up to two seconds of
the first visit.
For: Streamlit 1.64 to 1.67.
"""

import re
from typing import Any

from ffnviz.server.streamlit_patches.patch import expect

MILLISECONDS = re.compile(r"(\d+)ms")


def check() -> None:
    """Whether a text box still reads its pause by this name."""
    from streamlit.elements.widgets import text_widgets

    names = text_widgets._parse_text_input_live.__code__.co_names
    expect("time_to_seconds" in names, "a text box reads its pause with time_to_seconds")


def apply() -> None:
    """Have text boxes read whole milliseconds here, and all else as before."""
    from streamlit.elements.widgets import text_widgets
    from streamlit.time_util import time_to_seconds

    def seconds(pause: Any) -> float:
        written = MILLISECONDS.fullmatch(pause) if isinstance(pause, str) else None
        return int(written[1]) / 1_000 if written else time_to_seconds(pause)

    text_widgets.time_to_seconds = seconds  # type: ignore[assignment,attr-defined]
