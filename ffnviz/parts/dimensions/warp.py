"""The warp: a plane through three tokens, sheared by W₁ and W₂, folded or bent by φ."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.analysis.dimensions.warp import Stage, Warp, warp
from ffnviz.figures.dimensions.warp import Panel, warped
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, choice_setting, count_setting, number_setting
from ffnviz.state.state import LARGEST

MANY = 60  # more lines than these would cover the plane
NEURONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
OTHERS = ("identity", "relu", "gelu", "tanh", "sigmoid")
PHI = choice_setting(
    "warp_phi", {"own": "the network's", **{name: ACTIVATIONS[name].label for name in OTHERS}}
)
SHARE = number_setting("warp", 1.0, 0.0, 1.0)
N_NEURONS = count_setting("warp_neurons", 8, NEURONS[0], NEURONS[-1])
# Tokens from 1; 0 stands for the one furthest from those before it.
SECOND = count_setting("warp_second", 0, 0, LARGEST)
THIRD = count_setting("warp_third", 0, 0, LARGEST)
SETTINGS = (PHI, SHARE, N_NEURONS, SECOND, THIRD)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The controls in a row over the three stages."""
    corners = chosen_corners(run, navigator)
    with st.container(key="below-warp"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            phi = what_phi(run, navigator)
            which_corners(run, navigator, corners)
        n_neurons, share = how_many_how_far(run, navigator)
    block = run.state.block
    inputs = run.trace.blocks[block].ffn.input[list(corners)]
    found = run.subject.per_sentence(
        ("warp", block, corners, phi.name, n_neurons),
        lambda: warp(run.model, block, inputs, phi, n_neurons),
    )
    the_stages(run, found, phi, corners, share, n_neurons)


def chosen_corners(run: Run, navigator: Navigator) -> tuple[int, ...]:
    """The chosen token and two others; fewer, where the sentence has no more."""
    inputs = run.trace.blocks[run.state.block].ffn.input
    corners = [run.token]
    for setting in (SECOND, THIRD):
        left = [place for place in range(len(inputs)) if place not in corners]
        if not left:
            break
        wanted = navigator.value(setting) - 1
        apart = (inputs[left][:, None] - inputs[corners]).norm(dim=-1).min(dim=1).values
        corners.append(wanted if wanted in left else left[int(apart.argmax())])
    return tuple(corners)


def what_phi(run: Run, navigator: Navigator) -> Activation:
    """φ, the network's own or another with the same weights."""
    own = run.card.phi
    options = navigator.options(PHI)
    words = {**PHI.options, "own": f"the network's: {own.label}"}
    st.selectbox("φ", **{**options, "format_func": words.__getitem__}, width=240)
    chosen = navigator.value(PHI)
    return own if chosen == "own" else ACTIVATIONS[chosen]


def which_corners(run: Run, navigator: Navigator, corners: tuple[int, ...]) -> None:
    """The two tokens besides the chosen one."""
    for title, setting, at in (("Second token", SECOND, 1), ("Third token", THIRD, 2)):
        if at < len(corners):
            _corner(run, navigator, title, setting, corners, at)
    if len(corners) < 3:
        st.markdown("The sentence has fewer than three tokens: what is missing is drawn at random.")


def _corner(
    run: Run, navigator: Navigator, title: str, setting: Setting[int], corners: tuple[int, ...],
    at: int,
) -> None:  # fmt: skip
    key = f"setting-{setting.name}"
    labels = run.labels
    left = [place for place in range(len(labels)) if place not in corners[:at]]
    st.session_state[key] = corners[at]

    def choose() -> None:
        navigator.choose(setting, int(st.session_state[key]) + 1)

    st.selectbox(title, left, key=key, on_change=choose, width=190,
                 format_func=lambda place: f"{place + 1}. {labels[place]}")  # fmt: skip


def how_many_how_far(run: Run, navigator: Navigator) -> tuple[int, float]:
    """The sliders: how many neurons take part, and how much of φ."""
    d_ff = run.model.sizes.d_ff
    stops = sorted({min(stop, d_ff) for stop in NEURONS})
    place = nearest(stops, min(navigator.value(N_NEURONS), d_ff), by_ratio=True)
    share = navigator.value(SHARE)
    left, right = st.columns(2, gap="medium")
    with left:
        slider(
            "from no φ to all of it",
            [f"{stop}%" for stop in range(0, 101, 5)],
            round(20 * share),
            key="warp-share",
            on_choose=lambda stop, done: navigator.choose(SHARE, stop / 20, done),
        )
    with right:
        slider(
            "neurons that take part: those that vary most here",
            [f"{stop:,}" for stop in stops],
            place,
            key="warp-neurons",
            on_choose=lambda stop, done: navigator.choose(N_NEURONS, stops[stop], done),
        )
    return stops[place], round(20 * share) / 20


def the_stages(
    run: Run, found: Warp, phi: Activation, corners: tuple[int, ...], share: float, n_neurons: int
) -> None:
    """The plane before the FFN, after φ and after W₂."""
    flat = share == 0 or phi.name == "identity"
    panels = [
        Panel("before the FFN: a plane", found.plane, found.tokens, ("axis 1", "axis 2")),
        _panel(f"after W₁ and φ: {n_neurons:,} dimensions", found.hidden, share),
        _panel(f"after W₂: {run.model.sizes.d_model:,} dimensions", found.output, share),
    ]
    labels = [*(run.labels[place] for place in corners), "random", "random"][:3]
    few = len(found.lines) <= MANY and not flat
    chart(
        Head(_sentence(found, phi, flat, n_neurons), "warp", run.card.colour),
        warped(panels, np.zeros_like(found.awake) if flat else found.awake, labels,
               _segments(found) if few else np.zeros((0, 4)), run.card.colour),
        "A square grid in the plane of three tokens, before the FFN, after φ, and after W₂.",
        f"{run.stamp} {phi.name} {corners} {share} {n_neurons}",
        key="warp",
        height=560,
    )  # fmt: skip


def _panel(title: str, stage: Stage, share: float) -> Panel:
    points, tokens = stage.at(share)
    first, second = (f"axis {k + 1}: {percent(float(stage.explained[k]))} of the variance"
                     for k in (0, 1))  # fmt: skip
    return Panel(title, points, tokens, (first, second))


def _segments(found: Warp) -> NDArray[np.float64]:
    """The lines from border to border of the square, (n, 4)."""
    normal, offset = found.lines[:, :2], found.lines[:, 2]
    low, high = found.corners
    foot = -(offset / (normal**2).sum(axis=1))[:, None] * normal
    along = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
    along = np.where(along == 0, 1e-300, along)
    ends = np.sort(np.stack([(low - foot) / along, (high - foot) / along]), axis=0)
    first, last = ends[0].max(axis=1)[:, None], ends[1].min(axis=1)[:, None]
    return np.concatenate([foot + first * along, foot + last * along], axis=1)


def _sentence(found: Warp, phi: Activation, flat: bool, n_neurons: int) -> Sentence:
    with_ = f"{phi.label} with {n_neurons:,} neurons"
    if flat:
        return ["Without φ the plane stays ", number("1 flat piece"),
                ": W₁ and W₂ shear it, and what was straight stays straight."]  # fmt: skip
    lines, n_pieces = _counted(len(found.lines), "straight line"), found.n_pieces
    if phi.exact_zeros:
        return [f"{with_} folds this plane along ", number(lines), " into ",
                number(_counted(n_pieces, "flat piece")), "."]  # fmt: skip
    return [f"{with_} bends this plane, most of all near ", number(lines),
            "; no piece of it stays quite flat."]  # fmt: skip


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
