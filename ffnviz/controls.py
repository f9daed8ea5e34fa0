"""What all pages share above their own parts: sentence, twin, block, device, examples, tokens."""

import tomllib

import streamlit as st

from ffnviz import session
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.assets import ASSETS
from ffnviz.components.chips import chips
from ffnviz.components.examples import examples
from ffnviz.components.head import Head
from ffnviz.figures import sentences
from ffnviz.figures.style import palettes
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.model.model import TWINS
from ffnviz.page import Page, Part
from ffnviz.run import Run

EXAMPLES = ASSETS / "examples.toml"


@st.cache_data(show_spinner=False)
def example_groups() -> list[tuple[str, list[str]]]:
    """The sentences of assets/examples.toml with their groups' titles."""
    groups = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))["group"]
    return [(group["title"], group["sentences"]) for group in groups]


def sentence_box() -> None:
    """The sentence, the device, and the examples."""
    gpu = session.find_gpu()
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        st.text_input(
            "Sentence",
            key="text",
            persist_state="session",  # a page we turn to would forget it otherwise
            live=True,
            placeholder="Type a sentence; [MASK] stands for a missing word",
            autocomplete="off",
            label_visibility="collapsed",
        )
        st.toggle(
            "GPU", key="gpu", persist_state="session", disabled=gpu.device is None, help=gpu.why
        )
    examples(example_groups(), key="examples", on_choose=session.choose_text)


def twin_and_block() -> None:
    """Which network reads it, and which of its FFNs is shown; page.css puts it beside the box."""
    with st.container(horizontal=True, key="twin-and-block"):
        st.segmented_control(
            "Twin",
            TWINS,
            key="twin",
            persist_state="session",
            format_func=lambda twin: ACTIVATIONS[twin].label,
            required=True,
            label_visibility="collapsed",
        )
        st.segmented_control(
            "Block",
            range(1, session.n_blocks() + 1),
            key="block",
            persist_state="session",
            format_func="block {}".format,
            required=True,
            label_visibility="collapsed",
        )


def left_out_notice(run: Run) -> None:
    """What the network cannot read of a long text."""
    trace = run.trace
    if trace.n_left_out:
        st.warning(
            f"The network reads at most {len(trace.tokens)} tokens. The last {trace.n_left_out:,} "
            "of your text are left out below; shorten it to see them."
        )


def token_chips(run: Run) -> None:
    """The tokens, each with the share of neurons it wakes; the chosen one drives the page."""
    twin, block = run.request.twin, run.request.block
    counted = awake(run.trace, block, threshold_for(twin))
    sentence = sentences.of_tokens(run.labels, counted.shares, counted.threshold, block)
    chips(
        Head(sentence, "tokens", twin),
        run.labels,
        [float(share) for share in counted.shares],
        run.token,
        f"of {counted.d_ff:,} neurons {sentences.awake_means(counted.threshold)}",
        palettes(),
        run.stamp,
        key="chips",
        on_choose=session.choices().token,
    )


def part_buttons(page: Page, part: Part) -> None:
    """The parts of a page, one shown at a time."""
    key = f"part-{page.name}"
    st.session_state[key] = part.name
    titles = {part.name: part.title for part in page.parts}
    st.segmented_control(
        f"Parts of {page.title}",
        list(titles),
        key=key,
        format_func=lambda name: titles[name],
        required=True,
        label_visibility="collapsed",
        on_change=lambda: session.choose_part(page, st.session_state[key]),
    )
