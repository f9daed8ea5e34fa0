"""Which network reads the sentence, which of its FFNs is looked at, and what stands beside it."""

import streamlit as st

from ffnviz.app.session import Session, network_by_id, network_label, tie
from ffnviz.figures.wording import weights
from ffnviz.models.trace import words_among
from ffnviz.pictures.slider import slider
from ffnviz.state.actions import ChooseBlock, ChooseNetwork, ChoosePartner, ShowSpecial
from ffnviz.state.run import Run

FEW_BLOCKS = 4  # of which each has a button; of more, a slider


def network_and_block(session: Session, run: Run | None) -> None:
    """Which network reads it, and which of its FFNs is shown; page.css puts it beside the box."""
    state, networks = session.state, session.catalog.networks
    cards = {name: network_by_id(name).card for name in networks}
    if any(not card.ours for card in cards.values()):
        any_network_and_block(session, run)
        return
    tie("twin", state.network)
    tie("block", state.block)
    with st.container(horizontal=True, key="twin-and-block"):
        st.segmented_control(
            "Twin",
            list(networks),
            key="twin",
            format_func=lambda network: cards[network].label,
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
        partner(session)


def any_network_and_block(session: Session, run: Run | None) -> None:
    """The same where there are networks of other people: a row that says what each is."""
    state, networks = session.state, session.catalog.networks
    n_blocks = networks[state.network].n_blocks
    tie("twin", state.network)
    with st.container(horizontal=True, vertical_alignment="bottom", key="network-row"):
        st.selectbox(
            "Network",
            list(networks),
            key="twin",
            format_func=described,
            label_visibility="collapsed",
            on_change=lambda: session.do(ChooseNetwork(st.session_state["twin"])),
        )
        if n_blocks > FEW_BLOCKS:
            with st.container(key="block-slider", width=320):
                slider(
                    "Block",
                    [f"{block + 1} of {n_blocks}" for block in range(n_blocks)],
                    state.block,
                    key="any-block",
                    on_choose=lambda block, _: session.do(ChooseBlock(block)),
                )
        elif n_blocks > 1:
            tie("block", state.block)
            st.segmented_control(
                "Block",
                range(n_blocks),
                key="block",
                format_func=lambda block: f"block {block + 1}",
                required=True,
                label_visibility="collapsed",
                width="content",
                on_change=lambda: session.do(ChooseBlock(st.session_state["block"])),
            )
        partner(session)
        if run is not None and run.special:
            special_tokens(session, run)


def special_tokens(session: Session, run: Run) -> None:
    """Whether special tokens are shown and counted: everywhere, or nowhere."""
    places = words_among(run.whole.tokens)

    def chosen() -> None:
        shown = bool(st.session_state["specials"])
        token = run.place if shown else min(max(0, run.place - places.start), len(places) - 1)
        session.do(ShowSpecial(shown, token))

    tie("specials", session.state.special)
    names = " and ".join(run.special)
    st.toggle(
        f"Show and count {names}",
        key="specials",
        help=f"The network reads {names} beside your words. Hidden, they are in no picture, table, "
        "share or average; the network reads them all the same.",
        on_change=chosen,
    )


def described(name: str) -> str:
    """A network in a line: its label, size, φ and blocks."""
    network = network_by_id(name)
    card, sizes = network.card, network.sizes
    blocks = "1 block" if sizes.n_blocks == 1 else f"{sizes.n_blocks} blocks"
    return f"{card.label} · {weights(sizes.n_parameters)} · {card.phi.label} · {blocks}"


def partner(session: Session) -> None:
    """Which network stands beside it, where there is a choice."""
    state = session.state
    others = [network for network in session.catalog.networks if network != state.network]
    if len(others) < 2:
        return
    tie("partner", state.partner or others[0])
    st.selectbox(
        "Beside it",
        others,
        key="partner",
        format_func=lambda network: f"beside {network_label(network)}",
        label_visibility="collapsed",
        on_change=lambda: session.do(ChoosePartner(st.session_state["partner"])),
    )
