"""All neurons: how often each is awake, in a table to sort and to search."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.neurons.browsing import HIGH, Overview, overview
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.analysis.sparsity.record import record_of
from ffnviz.figures.neurons import spread as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.neurons.choose import dated, index_of, neuron_shown, word_at
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting, text_setting

ORDER = choice_setting(
    "sort",
    {"often": "most often awake", "rare": "rarest", "selective": "most selective",
     "number": "by number"},
)  # fmt: skip
FIND = text_setting("find", longest=40)
SETTINGS = (ORDER, FIND)


@live
def render(run: Run, navigator: Navigator) -> None:
    """How often, beside the table."""
    index = index_of(run, navigator)
    if index is None:
        return
    left, right = st.columns([1, 1.35], gap="medium")
    with left:
        how_often(run, index)
    with right:
        the_table(run, navigator, index)


def _overview(run: Run, index: NeuronIndex) -> Overview:
    block = run.state.block
    made: Overview = run.subject.per_network(
        f"overview of block {block}", lambda: overview(index, block, word_at(run))
    )
    return made


def _on_books(run: Run, never: int) -> Sentence:
    """Why “Never awake” has another number: more text leaves fewer neurons unreached."""
    if not run.card.phi.exact_zeros or missing(run.card, (Capability.RECORD,)):
        return []
    record = record_of(run.model)
    on_books = len(record.final_never[run.state.block])
    if on_books == never:
        return []
    return [
        f"On other text it is another number: on {record.final_n_tokens:,} tokens of books, ",
        number(f"{on_books:,}"), ". ",
    ]  # fmt: skip


def how_often(run: Run, index: NeuronIndex) -> None:
    """The share of tokens on which each neuron fires, in order, for all blocks of the index."""
    chosen, neuron = run.state.block, neuron_shown(run)
    shares = {number: block.fired / index.n_tokens for number, block in index.by_number.items()}
    here = shares[chosen]
    never = int((here == 0).sum())
    sentence: Sentence = [
        number(f"{never:,} of {len(here):,} neurons"), f" of block {chosen + 1} never fire on ",
        f"{index.n_tokens:,} tokens of {index.source}{dated(run)}; a token wakes ",
        number(percent(float(here.mean()))), " on average. ", *_on_books(run, never),
        "Published: more than 70% never fire in some layers of OPT-66B (Voita et al. "
        "2023); 3.0% are awake in T5-Base (Li et al. 2022).",
    ]  # fmt: skip
    accent = f"@{run.card.colour}"
    series = {
        f"block {number + 1}": (np.sort(values)[::-1], "@muted", 2.0)
        for number, values in shares.items()
        if number != chosen
    } | {f"block {chosen + 1}": (np.sort(here)[::-1], accent, 4.0)}
    chart(
        Head(sentence, "awake-ranks", run.card.colour),
        figures.ranked(series, int((here > here[neuron]).sum())),
        "How often the neurons of each block fire, the most often first; the chosen one is marked.",
        f"{run.stamp} {neuron}",
        key="awake-ranks",
        height=560,
    )


def the_table(run: Run, navigator: Navigator, index: NeuronIndex) -> None:
    """The neurons; a click on a row meets one."""
    rows = _overview(run, index)
    choose, find = st.columns([1, 1])
    with choose:
        order = st.selectbox("Sort", **navigator.options(ORDER))
    with find:
        st.text_input(
            "Find a word or a tag", autocomplete="off", placeholder="sea", **navigator.widget(FIND)
        )
    shown = _found(_ordered(rows, str(order)), rows, navigator.value(FIND))
    key = f"all-neurons-{run.card.id}-{run.state.block}"

    def meet() -> None:
        chosen = st.session_state[key].selection.rows
        if chosen and 0 <= chosen[0] < len(shown):
            navigator.meet(run.neuron(int(shown[chosen[0]])), "wakes")

    st.dataframe(
        _columns(rows, shown, index.both_sides), key=key, height=520, hide_index=True,
        on_select=meet, selection_mode="single-row",
        column_config={
            name: st.column_config.NumberColumn(format="%.2f")
            for name in ("% of tokens", "% of texts", "F1", "mean", f"{HIGH:.0%} below", "most",
                         "least")
        },
    )  # fmt: skip
    st.markdown(
        f"{len(shown):,} of {len(rows.awake):,} neurons. F1: how well “it fires” and “the text has "
        "this tag” agree, from 0 to 1. Tick a row to meet its neuron."
    )


def _columns(rows: Overview, shown: np.ndarray, both_sides: bool) -> Mapping[str, object]:
    columns = {
        "neuron": shown,
        "% of tokens": 100 * rows.awake[shown],
        "% of texts": 100 * rows.texts[shown],
        "tag": [rows.tag[neuron] for neuron in shown],
        "F1": rows.selective[shown],
        "strongest at": [rows.words[neuron] for neuron in shown],
        "mean": rows.mean[shown],
        f"{HIGH:.0%} below": rows.high[shown],
        "most": rows.most[shown],
    }
    return columns | ({"least": rows.least[shown]} if both_sides else {})


def _ordered(rows: Overview, order: str) -> np.ndarray:
    if order == "often":
        return np.argsort(-rows.awake, kind="stable")
    if order == "rare":  # what never fires comes last: there is nothing to see
        return np.lexsort((rows.awake, rows.awake == 0))
    if order == "selective":
        return np.argsort(-rows.selective, kind="stable")
    return np.arange(len(rows.awake))


def _found(order: np.ndarray, rows: Overview, wanted: str) -> np.ndarray:
    text = wanted.strip().casefold()
    if not text:
        return order
    return np.array(
        [n for n in order if text in rows.tag[n].casefold() or text in rows.words[n].casefold()],
        dtype=int,
    )
