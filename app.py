"""The front door: page config, the controls all pages share, and the pages."""

import tomllib
from pathlib import Path

import streamlit as st

from ffnviz import session
from ffnviz.components.examples import examples
from ffnviz.idle import idle_collector
from ffnviz.model.folder import ModelFolderError
from ffnviz.pages import PAGES

ASSETS = Path(__file__).parent / "assets"
LABELS = {"relu": "ReLU", "gelu": "GELU"}


@st.cache_data(show_spinner=False)
def example_groups() -> list[tuple[str, list[str]]]:
    """The sentences of assets/examples.toml with their groups' titles."""
    groups = tomllib.loads((ASSETS / "examples.toml").read_text(encoding="utf-8"))["group"]
    return [(group["title"], group["sentences"]) for group in groups]


def controls() -> None:
    """What all pages share: sentence, twin, block, device, examples."""
    gpu = session.find_gpu()
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        st.markdown("**ffnviz**", width="content")
        st.text_input(
            "Sentence",
            key="text",
            live=True,
            placeholder="Type a sentence; [MASK] stands for a missing word",
            autocomplete="off",
            label_visibility="collapsed",
        )
        st.segmented_control(
            "Twin",
            list(LABELS),
            key="twin",
            format_func=lambda twin: LABELS[twin],
            required=True,
            label_visibility="collapsed",
        )
        st.segmented_control(
            "Block",
            range(1, session.n_blocks() + 1),
            key="block",
            format_func="block {}".format,
            required=True,
            label_visibility="collapsed",
        )
        st.toggle("GPU", key="gpu", disabled=gpu.device is None, help=gpu.why)
    examples(example_groups(), key="examples", on_choose=session.choose_text)


st.set_page_config("ffnviz", page_icon=str(ASSETS / "logo.svg"), layout="wide")
st.html(ASSETS / "page.css")
idle_collector().page_ran()
try:
    session.open_url()
    # Computed before anything is drawn: the browser then gets the whole page in one piece.
    run = session.current_run()
    controls()
except ModelFolderError as error:
    st.error("A twin could not be loaded, so there is nothing to show.", icon=":material/error:")
    st.text(str(error))
    st.stop()
session.write_url(run)
if run is None:
    st.info("The box is empty. Type a sentence, or click one of the examples.")
    st.stop()
pages = [st.Page(page.bind(run, session.choices()), **page.address) for page in PAGES]
st.navigation(pages, position="top").run()
