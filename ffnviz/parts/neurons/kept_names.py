"""The names given so far: in the URL, and in a file to keep and to bring back."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote_plus

import streamlit as st

from ffnviz.analysis.neurons.names import (
    LONGEST_FILE,
    Name,
    NamesError,
    read_names,
    to_file,
    to_line,
    with_name,
)
from ffnviz.figures.wording import neuron_name
from ffnviz.models.card import NetworkSize
from ffnviz.parts.part import Navigator
from ffnviz.pictures.opening import open_file
from ffnviz.pictures.saving import save_button
from ffnviz.state.run import Run
from ffnviz.state.settings import text_setting
from ffnviz.state.state import Neuron

LONGEST_IN_URL = 1_800
ROOM_IN_URL = 2_800  # characters of the URL for the same: JSON's signs take three each
# A line that is there is read to its end, however a URL writes it: cut, it would be no JSON.
NAMES = text_setting("names", longest=LONGEST_IN_URL, room=12 * LONGEST_IN_URL)
PROBLEMS_SHOWN = 5
PROBLEM = "names-problem"  # why what somebody asked for was not done, or only in part


Networks = Mapping[str, NetworkSize]


def networks_of(run: Run) -> Networks:
    """Those whose neurons can be named."""
    return {name: NetworkSize(size.n_blocks, size.d_ff) for name, size in run.networks.items()}


def kept(networks: Networks, navigator: Navigator) -> tuple[Name, ...]:
    """The names in the URL; none if they are garbled."""
    try:
        return read_names(navigator.value(NAMES), networks).names
    except NamesError:
        return ()


def _set(navigator: Navigator, names: tuple[Name, ...]) -> None:
    line = to_line(names)
    if len(line) > LONGEST_IN_URL or len(quote_plus(line)) > ROOM_IN_URL:
        raise NamesError("A link has no room for so many names, so none was added.")
    navigator.choose(NAMES, line)


def keep(networks: Networks, navigator: Navigator, name: Name) -> None:
    """A button that keeps the name."""

    def do() -> None:
        try:
            _set(navigator, with_name(kept(networks, navigator), name))
        except NamesError as error:
            st.session_state[PROBLEM] = ("The name could not be kept.", (str(error),))
        else:
            st.session_state[PROBLEM] = None

    st.button(
        "Keep this name", on_click=do, disabled=not name.name.strip(), icon=":material/bookmark:"
    )


def all_names(networks: Networks, navigator: Navigator) -> None:
    """The table of names; a row leads to its neuron; the file, both ways."""
    problems(networks, navigator)
    names = kept(networks, navigator)
    if names:
        table_of(navigator, names)
    with st.container(horizontal=True, vertical_alignment="center"):
        save_button(
            "Export names",
            to_file(names) if names else None,
            "neuron-names.json",
            "application/json",
            key="names-out",
        )
        with st.popover("Import names"):
            bring_back(networks, navigator)


def problems(networks: Networks, navigator: Navigator) -> None:
    """What is wrong with the link's names, and with the last thing that was asked for."""
    try:
        left_out = read_names(navigator.value(NAMES), networks).left_out
    except NamesError as error:
        left_out = (str(error),)
    if left_out:
        _say("The link holds names that cannot be shown.", left_out)
    problem = st.session_state.get(PROBLEM)
    if problem:
        _say(*problem)


def _say(what: str, why: tuple[str, ...]) -> None:
    st.error(what)
    more = len(why) - PROBLEMS_SHOWN
    rest = (f"and {more:,} more",) if more > 0 else ()
    st.text("\n".join((*why[:PROBLEMS_SHOWN], *rest)))  # with what was typed: no markup


def table_of(navigator: Navigator, names: tuple[Name, ...]) -> None:
    """One row a name."""

    def meet() -> None:
        rows = st.session_state["names-table"].selection.rows
        if rows and 0 <= rows[0] < len(names):
            name = names[rows[0]]
            navigator.meet(Neuron(name.twin, name.block - 1, name.neuron), "name")

    st.dataframe(
        {
            "neuron": [f"{n.twin} {neuron_name(n.block - 1, n.neuron)}" for n in names],
            "name": [n.name for n in names],
            "guess": [n.tag or n.words for n in names],
        },
        key="names-table",
        height=min(200, 40 + 36 * len(names)),
        hide_index=True,
        on_select=meet,
        selection_mode="single-row",
    )


def bring_back(networks: Networks, navigator: Navigator) -> None:
    """A file that was downloaded here."""
    open_file(
        f"A file of names, as downloaded here: up to {LONGEST_FILE:,} characters",
        ".json",
        LONGEST_FILE,
        key="names-file",
        on_text=partial(take, networks, navigator),
    )


def take(networks: Networks, navigator: Navigator, file: str, text: str) -> None:
    """The good entries of the file, each in the place of an older one; what is wrong is said."""
    problem: tuple[str, tuple[str, ...]] | None = None
    try:
        # Some editors put a byte order mark before the text.
        found = read_names(text.removeprefix("\ufeff"), networks)
        names = kept(networks, navigator)
        for name in found.names:
            names = with_name(names, name)
        _set(navigator, names)
    except NamesError as error:
        problem = ("The names could not be taken over.", (f"{file}: {error}",))
    else:
        n = len(found.names)
        what = f"{n:,} name{'' if n == 1 else 's'} taken over; {len(found.left_out):,} left out."
        if found.left_out:
            problem = (what, found.left_out)
    st.session_state[PROBLEM] = problem
