"""“Take home” on the Journey: the file is made beside the pages, and saved by the browser."""

import streamlit as st

from ffnviz.analysis.spread import Progress
from ffnviz.export.document import TooLargeError
from ffnviz.export.journey_file import ExportedJourney, journey_file
from ffnviz.parts.measurement import measure_button
from ffnviz.pictures.saving import save_button
from ffnviz.state.run import Run

NAME, WANTED = "take-home", "take_home"
FILE = "ffnviz-journey.html"


def ask(run: Run) -> None:
    """Have the file of what is shown now offered."""
    st.session_state[WANTED] = _of(run)
    st.session_state.get("measured", {}).pop(NAME, None)
    st.session_state.get("refused", set()).discard(NAME)


def offer(run: Run) -> None:
    """The file, if it was asked for and the sentence is still the same."""
    wanted: tuple[object, ...] | None = st.session_state.get(WANTED)
    if wanted is None or wanted[:3] != _of(run)[:3]:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="take-home"):
        made = measure_button(
            NAME, wanted, run, make, label="Make it again", doing="Making the file …"
        )
        if made is not None:
            found: ExportedJourney | str = made.result
            if isinstance(found, str):
                st.warning(found)
            else:
                _saved(found)
        st.button("Close", key="take-home-close", on_click=_close)


def make(run: Run, progress: Progress) -> ExportedJourney | str:
    """The file; or why there is none, in a sentence."""
    try:
        return journey_file(run, progress)
    except TooLargeError as error:
        return str(error)


def _saved(made: ExportedJourney) -> None:
    content = made.html.encode()
    save_button(f"Save the file ({len(content) / 1e6:.1f} MB)", content, FILE, "text/html",
                key="take-home-save")  # fmt: skip
    if made.notice:
        st.warning(made.notice)
    st.markdown(
        "It holds all tokens, blocks and networks of this sentence, and opens without a server."
    )


def _of(run: Run) -> tuple[object, ...]:
    """What the file depends on: first what changes all of it, then what it opens with."""
    networks = tuple(traced.card.id for traced in run.both)
    state = run.state
    return (networks, run.device, state.sentence,
            state.network, state.block, run.token, state.neuron, state.order)  # fmt: skip


def _close() -> None:
    st.session_state[WANTED] = None
