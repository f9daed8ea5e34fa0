"""The choice of the network, of its block, and of the network beside it."""

import streamlit as st

from ffnviz.app.rail import rail_cell
from ffnviz.app.session import Session, network_by_id, network_label
from ffnviz.models.token_slice import words_among
from ffnviz.parts.sheet import Choice, Control, Switch
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.wording import weights
from ffnviz.state.actions import ChooseBlock, ChooseNetwork, ChoosePartner, ShowSpecial
from ffnviz.state.run import Run
from ffnviz.state.run_factory import find_gpu
from ffnviz.state.settings import Values

AT_THE_BOX = 2  # networks that fit beside the box
FEW_BLOCKS = 4  # of which each has a button; of more, a slider


def network_cell(session: Session, run: Run | None) -> Cell | None:
    """The controls of the networks; page.css puts them beside the box if they are few, and ours."""
    state, networks = session.state, session.catalog.networks
    names = list(networks)
    ours = all(network_by_id(name).card.ours for name in names)
    label = network_label if ours else described
    n_blocks = networks[state.network].n_blocks
    controls: list[Control] = [
        Choice("Network", [label(name) for name in names], lambda at: ChooseNetwork(names[at]),
               names.index(state.network), bare=True),
    ]  # fmt: skip
    if n_blocks > FEW_BLOCKS:
        blocks = [f"{block + 1} of {n_blocks}" for block in range(n_blocks)]
        controls.append(Choice("Block", blocks, ChooseBlock, state.block, style="slider"))
    elif ours or n_blocks > 1:
        blocks = [f"block {block + 1}" for block in range(n_blocks)]
        controls.append(Choice("Block", blocks, ChooseBlock, state.block, bare=True))
    others = [name for name in names if name != state.network]
    if len(others) > 1:
        place = others.index(state.partner) if state.partner in others else 0
        labels = [f"beside {network_label(name)}" for name in others]
        controls.append(Choice("Beside it", labels, lambda at: ChoosePartner(others[at]), place,
                               bare=True))  # fmt: skip
    if run is not None and run.special:
        controls.append(special_tokens(run))
    controls.append(gpu_switch())
    beside_the_box = ours and len(names) <= AT_THE_BOX
    return rail_cell(controls, Values(), {}, "network" if beside_the_box else "any-network")


def gpu_switch() -> Switch:
    """Whether the GPU computes; without one, why not."""
    gpu = find_gpu()

    def choose(on: bool) -> None:
        st.session_state["gpu"] = on

    on = gpu.device is not None and bool(st.session_state["gpu"])
    return Switch("GPU", on, choose, disabled=gpu.device is None, help=gpu.why)


def special_tokens(run: Run) -> Switch:
    """Whether special tokens are shown and counted: everywhere, or nowhere."""
    places = words_among(run.whole.tokens)

    def chosen(shown: bool) -> ShowSpecial:
        token = run.place if shown else min(max(0, run.place - places.start), len(places) - 1)
        return ShowSpecial(shown, token)

    names = " and ".join(run.special)
    return Switch(
        f"Show and count {names}",
        run.state.special,
        chosen,
        help=f"The network reads {names} beside your words. Hidden, they are in no picture, table, "
        "share or average; the network reads them all the same.",
    )


def described(name: str) -> str:
    """A network in a line: its label, size, φ and blocks."""
    network = network_by_id(name)
    card, sizes = network.card, network.sizes
    blocks = "1 block" if sizes.n_blocks == 1 else f"{sizes.n_blocks} blocks"
    return f"{card.label} · {weights(sizes.n_parameters)} · {card.phi.label} · {blocks}"
