"""The names given so far: in the URL, and in a file to keep and to bring back."""

import streamlit as st

from ffnviz.analysis.names import Name, NamesError, read_names, to_file, to_line, with_name
from ffnviz.page import Choices, text_setting

LONGEST_IN_URL = 1_800
NAMES = text_setting("names", longest=LONGEST_IN_URL)


def kept(choices: Choices) -> tuple[Name, ...]:
    """The names in the URL; none if they are garbled."""
    try:
        return read_names(choices.value(NAMES))
    except NamesError:
        return ()


def _set(choices: Choices, names: tuple[Name, ...]) -> None:
    line = to_line(names)
    if len(line) > LONGEST_IN_URL:
        st.session_state["names-problem"] = (
            "A link holds no more names than these: download them, then begin anew."
        )
        return
    st.session_state["names-problem"] = None
    choices.choose(NAMES, line)


def keep(choices: Choices, name: Name) -> None:
    """A button that keeps the name."""

    def do() -> None:
        _set(choices, with_name(kept(choices), name))

    st.button(
        "Keep this name", on_click=do, disabled=not name.name.strip(), icon=":material/bookmark:"
    )
    problem = st.session_state.get("names-problem")
    if problem:
        st.error("The names could not be taken over.")
        st.text(problem)


def all_names(choices: Choices) -> None:
    """The table of names; a row leads to its neuron; the file, both ways."""
    names = kept(choices)
    if names:
        table_of(choices, names)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download the names", to_file(names), "neuron-names.json", "application/json",
            on_click="ignore", disabled=not names,
        )  # fmt: skip
        with st.popover("Bring names back"):
            bring_back(choices)


def table_of(choices: Choices, names: tuple[Name, ...]) -> None:
    """One row a name."""

    def meet() -> None:
        rows = st.session_state["names-table"].selection.rows
        if rows and rows[0] < len(names):
            choices.meet(names[rows[0]].twin, names[rows[0]].neuron, None, "name")

    st.dataframe(
        {
            "neuron": [f"{n.twin} {n.block}:{n.neuron}" for n in names],
            "name": [n.name for n in names],
            "guess": [n.tag or n.words for n in names],
        },
        key="names-table",
        height=min(200, 40 + 36 * len(names)),
        hide_index=True,
        on_select=meet,
        selection_mode="single-row",
    )


def bring_back(choices: Choices) -> None:
    """A file that was downloaded here."""

    def take() -> None:
        file = st.session_state["names-file"]
        if file is None:
            return
        try:
            names = kept(choices)
            for name in read_names(file.getvalue().decode("utf-8", "replace")):
                names = with_name(names, name)
            _set(choices, names)
        except NamesError as error:
            st.session_state["names-problem"] = f"{file.name}: {error}"

    st.file_uploader(
        "A file of names, as downloaded here", ["json"], key="names-file", on_change=take
    )
