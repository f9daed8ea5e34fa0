"""What all pages share above their own parts: sentence, twin, block, device, examples, tokens."""

import tomllib

import streamlit as st

from ffnviz.actions import ChooseBlock, ChooseNetwork, ChooseToken, Turn
from ffnviz.analysis.sparsity.awake import awake, threshold_for
from ffnviz.assets import ASSETS
from ffnviz.components.chips import chips
from ffnviz.components.examples import examples
from ffnviz.components.head import Head
from ffnviz.components.page_bar import page_bar
from ffnviz.figures.journey import sentences
from ffnviz.page import Page
from ffnviz.run import Run
from ffnviz.session import Session, find_gpu, label_of
from ffnviz.state import readable
from ffnviz.turns import TURNS

EXAMPLES = ASSETS / "examples.toml"


@st.cache_data(show_spinner=False)
def example_groups() -> list[tuple[str, list[str]]]:
    """The sentences of assets/examples.toml with their groups' titles."""
    groups = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))["group"]
    return [(group["title"], group["sentences"]) for group in groups]


def sentence_box(session: Session) -> None:
    """The sentence, and the examples in a menu beside it."""
    if readable(st.session_state.get("text") or "") != session.state.sentence:
        st.session_state["text"] = session.state.sentence
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        st.text_input(
            "Sentence",
            key="text",
            live=f"{TURNS.pause_ms}ms",
            placeholder="Type a sentence; [MASK] stands for a missing word",
            autocomplete="off",
            label_visibility="collapsed",
            on_change=lambda: session.type(st.session_state["text"] or ""),
        )
        examples(example_groups(), key="examples", on_choose=session.type)


def device(page: Page) -> None:
    """The GPU's switch, where the page speaks of time."""
    gpu = find_gpu()
    with st.container(key=f"device-{page.name}"):
        st.toggle(
            "GPU", key="gpu", persist_state="session", disabled=gpu.device is None, help=gpu.why
        )


def tie(key: str, value: object) -> None:
    """Have the widget of that key show a value."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def network_and_block(session: Session) -> None:
    """Which network reads it, and which of its FFNs is shown; page.css puts it beside the box."""
    state, networks = session.state, session.house.networks
    tie("twin", state.network)
    tie("block", state.block)
    with st.container(horizontal=True, key="twin-and-block"):
        st.segmented_control(
            "Twin",
            list(networks),
            key="twin",
            format_func=lambda network: label_of(network),
            required=True,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseNetwork(st.session_state["twin"])),
        )
        st.segmented_control(
            "Block",
            range(networks[state.network].n_blocks),
            key="block",
            format_func=lambda block: f"block {block + 1}",
            required=True,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseBlock(st.session_state["block"])),
        )


def left_out_notice(run: Run) -> None:
    """What the network cannot read of a long text."""
    trace = run.trace
    if len(st.session_state.get("text") or "") > len(run.state.sentence):
        st.warning(
            f"Your text is too long: a link has room for its first {len(run.state.sentence):,} "
            f"characters, and the network reads at most {run.model.sizes.max_tokens} "
            "tokens. The rest is left out below; shorten it to see it."
        )
    elif trace.n_left_out:
        st.warning(
            f"The network reads at most {len(trace.tokens)} tokens. The last {trace.n_left_out:,} "
            "of your text are left out below; shorten it to see them."
        )


def bar(session: Session, page: Page, run: Run | None) -> None:
    """The page's name, its link, and what a screen reader is told when a click changed the page."""
    state = session.state
    part = page.part(state.part).title if len(page.parts) > 1 else ""
    chosen = [label_of(state.network), f"block {state.block + 1}"]
    page_bar(
        page.title, part, state.sentence, [*chosen, *([run.labels[run.token]] if run else [])],
        key="bar",
    )  # fmt: skip


def token_chips(run: Run, session: Session, page: Page) -> None:
    """The tokens, each with the share of neurons it wakes; the chosen one drives the page.

    What the shares say stands on the first page only.
    """
    block = run.state.block
    counted = awake(run.trace, block, threshold_for(run.card.phi))
    sentence = sentences.of_tokens(run.labels, counted.shares, counted.threshold, block)
    chips(
        Head(sentence, "tokens", run.card.colour) if len(page.parts) == 1 else None,
        run.card.colour,
        run.labels,
        [float(share) for share in counted.shares],
        run.token,
        f"of {counted.d_ff:,} neurons {sentences.awake_means(counted.threshold)}",
        run.stamp,
        key="chips",
        on_choose=lambda token: session.do(ChooseToken(token)),
    )


def part_buttons(session: Session, page: Page, run: Run | None) -> None:
    """The parts of a page, one shown at a time; those that this network cannot show are named."""
    key = f"part-{page.name}"
    away = {part.name: part.missing(run) for part in page.parts} if run else {}
    titles = {
        part.name: part.title
        for part in page.parts
        if not away.get(part.name) or part.name == session.state.part
    }
    tie(key, session.state.part)
    st.segmented_control(
        f"Parts of {page.title}",
        list(titles),
        key=key,
        format_func=lambda name: titles[name],
        required=True,
        label_visibility="collapsed",
        on_change=lambda: session.do(Turn(page.name, st.session_state[key])),
    )
    for need in dict.fromkeys(needs[0] for needs in away.values() if needs):
        parts = [p.title for p in page.parts if away[p.name] and away[p.name][0] is need]
        st.caption(f"Not for this network: {', '.join(parts)}. {need.value}")
