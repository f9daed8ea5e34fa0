"""How a word is chosen: the controls that two parts share."""

from collections.abc import Iterable
from typing import TypeVar

import streamlit as st

from ffnviz.analysis.vocabulary.decoding import Strategy
from ffnviz.parts.part import Navigator
from ffnviz.pictures.slider import slider
from ffnviz.state.settings import Setting, choice_setting, count_setting, number_setting

TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0)
N = TypeVar("N", int, float)
ALL = 1_000_000  # of any vocabulary
TOP_KS = (1, 2, 3, 5, 10, 20, 40, 80, 160, 500, 1000, ALL)
TOP_PS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
TEMPERATURE = number_setting("temperature", 1, TEMPERATURES[0], TEMPERATURES[-1])
TOP_K = count_setting("top_k", ALL, 1, ALL)
TOP_P = number_setting("top_p", 1, TOP_PS[0], 1)
PICK = choice_setting("pick", {"likeliest": "likeliest", "chance": "by chance"})
SEED = count_setting("seed", 1, 0, 999_999)
CUTS: tuple[Setting[float] | Setting[int] | Setting[str], ...] = (
    TEMPERATURE, TOP_K, TOP_P, PICK, SEED,
)  # fmt: skip


def strategy(navigator: Navigator) -> Strategy:
    """What the controls say."""
    return Strategy(
        navigator.value(TEMPERATURE),
        navigator.value(TOP_K),
        navigator.value(TOP_P),
        navigator.value(PICK) == "chance",
        navigator.value(SEED),
    )


def controls(navigator: Navigator, key: str) -> None:
    """Temperature, top-k, top-p, and how to pick."""
    _slider(navigator, "temperature", TEMPERATURE, TEMPERATURES, None, key)
    _slider(navigator, "top-k: keep the k likeliest", TOP_K, TOP_KS, ALL, key)
    _slider(navigator, "top-p: keep until p is reached", TOP_P, TOP_PS, 1, key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control("Pick", required=True, **navigator.options(PICK))
        st.number_input("Seed", min_value=0, max_value=999_999, step=1, width=150,
                        disabled=navigator.value(PICK) != "chance",
                        **navigator.widget(SEED))  # fmt: skip


def _slider(
    navigator: Navigator,
    label: str,
    setting: Setting[N],
    usual: Iterable[N],
    all_at: float | None,
    key: str,
) -> None:
    stops: list[N] = sorted(
        {navigator.value(setting)}.union(usual)
    )  # a link may hold one in between
    slider(
        label,
        ["all" if stop == all_at else f"{stop:g}" for stop in stops],
        stops.index(navigator.value(setting)),
        key=f"{key}-{setting.name}",
        on_choose=lambda stop, done: navigator.choose(setting, stops[stop], done),
    )
