"""Switch it off: sets of neurons put to sleep, scaled or fixed, and what that changes."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from ffnviz.analysis.neurons.intervention import Change, change, direct_contributions
from ffnviz.analysis.neurons.neuron_set import NeuronSetError, read_set, written_set
from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.figures.bars import Bars, named_bars
from ffnviz.figures.neurons import intervention as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.models.edit import Edit
from ffnviz.models.trace import Trace
from ffnviz.parts.guess import under_guess
from ffnviz.parts.neurons.choose import chooser
from ffnviz.parts.neurons.probe_measure import measure
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.actions import Set
from ffnviz.state.run import Run
from ffnviz.state.settings import ENCODED, Setting, choice_setting, number_setting, shortened

MOST = 10
LEAST = 6
LONGEST = 1_000
DO = choice_setting("do", {"zero": "set to zero", "scale": "multiply by", "fix": "fix to"})
BY = number_setting("by", 2.0, -20, 20)
WHERE = choice_setting("where", {"all": "at every token", "token": "at the chosen token"})
FULL = "switch-full"  # whether the last click found no room for its neuron


def _whole_pieces(text: str) -> str:
    """A set too long for a link, cut between two of its pieces: 2:1709 must not become 2:17."""
    cut = shortened(text, LONGEST, ENCODED * LONGEST)
    whole = re.match(r".*[\s,;]", cut, re.DOTALL)
    return cut if len(cut) == len(text) or not whole else whole[0]


SET: Setting[str] = Setting(
    "off", "", _whole_pieces, str, longest=LONGEST
)  # empty: the neuron shown
SETTINGS: tuple[Setting[Any], ...] = (SET, DO, BY, WHERE)

Neurons = Mapping[int, tuple[int, ...]]


@live
def render(run: Run, navigator: Navigator) -> None:
    """The set and its controls, the words before and after, and who matters for the first."""
    shown = chooser(run, navigator)
    told = predict(run.model, run.trace, run.token)
    controls, words, matter = st.columns([0.85, 1.1, 0.85], gap="medium")
    with controls:
        neurons = which(run, navigator, shown)
        edits = what_to_do(run, navigator, neurons)
    if neurons is None:
        return
    edited = run.model.trace(run.state.sentence, edits)
    changed = change(run.whole, edited, run.place)
    with controls:
        how_far(run, changed, repr(edits))
        measure(run, edits)
    with words:
        before_and_after(run, told, edited, neurons, edits)
    with matter:
        who_matters(run, navigator, told, neurons)


def which(run: Run, navigator: Navigator, shown: int) -> Neurons | None:
    """The set; None, with a message, if what was typed is none."""
    config, block = run.model.sizes, run.state.block
    st.text_input(
        "Neurons to switch; 2:17 is neuron 17 of block 2",
        placeholder=f"{neuron_name(block, shown)}, the neuron above",
        **navigator.widget(SET),
    )
    typed = navigator.value(SET)
    try:
        neurons = read_set(typed, config.n_blocks, config.d_ff, block)
    except NeuronSetError as error:
        st.error("This names no set of neurons.")
        st.text(str(error))  # with what was typed: no markup
        return None
    if st.session_state.pop(FULL, False):
        st.error("A link has no room for so many single neurons, so none was added.")
    if navigator.state().settings:
        st.button("Reset", on_click=navigator.do,
                  args=(Set({setting.name: None for setting in SETTINGS}),))  # fmt: skip
    return neurons or {block: (shown,)}


def what_to_do(run: Run, navigator: Navigator, neurons: Neurons | None) -> list[Edit]:
    """The controls, and the edits they make of the set."""
    do = st.segmented_control("What to do with them", required=True,
                              label_visibility="collapsed", **navigator.options(DO))  # fmt: skip
    by = 0.0
    if do != "zero":
        by = st.number_input(DO.options[do], -20.0, 20.0, step=0.5, **navigator.widget(BY))
    where = st.segmented_control("Where", required=True, label_visibility="collapsed",
                                 **navigator.options(WHERE))  # fmt: skip
    tokens = None if where == "all" else [run.place]
    return [
        Edit(block, members, value=by, tokens=tokens) if do == "fix"
        else Edit(block, members, scale=by, tokens=tokens)
        for block, members in (neurons or {}).items()
    ]  # fmt: skip


def how_far(run: Run, changed: Change, version: str) -> None:
    """What moved: the FFNs' outputs and the stream."""
    block = int(changed.output.argmax())
    sentence: Sentence = [
        f"What FFN {block + 1} writes changes by ", number(percent(float(changed.output[block]))),
        ", the last stream by ", number(percent(float(changed.stream[-1]))), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "changes", run.card.colour),
        figures.changes(changed.output, changed.stream, run.card.colour),
        "How far each block's FFN output and the stream after it moved.",
        f"{run.stamp} {version}",
        key="changes",
        height=250,
    )


def before_and_after(
    run: Run, told: Prediction, edited: Trace, neurons: Neurons, edits: list[Edit]
) -> None:
    """The ten likeliest words, plain and edited."""
    after = predict(run.model, edited, run.place)
    best = int(told.ids[0])
    then = float(edited.logits_at(run.place).softmax(dim=-1)[best])
    n = sum(map(len, neurons.values()))
    done = _done(edits[0])
    sentence: Sentence = [
        "With ", number(f"{n:,} neuron{'s' * (n > 1)} {done}"), ", ", number(told.words[0]),
        " goes from ", number(percent(float(told.probabilities[0]))), " to ",
        number(percent(then)), " at ", quoted(run.labels[run.token]), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "switched", run.card.colour, under=under_guess(run)),
        word_bars([
            Words("as it is", told.words, told.probabilities, f"@{run.card.colour}"),
            Words(done, after.words, after.probabilities, "@muted"),
        ]),
        "The ten likeliest words of the network as it is and with the neurons switched.",
        f"{run.stamp} {edits}",
        key="switched-words",
        height=680,
    )  # fmt: skip


def _done(edit: Edit) -> str:
    if edit.value is not None:
        return f"fixed to {edit.value:g}"
    return "set to zero" if edit.scale == 0 else f"multiplied by {edit.scale:g}"


def who_matters(run: Run, navigator: Navigator, told: Prediction, neurons: Neurons) -> None:
    """The neurons that add most to the likeliest word's logit; a click puts one in or out."""
    added = direct_contributions(run.model, run.trace, run.token, int(told.ids[0]))
    n_blocks, d_ff = added.shape
    order = np.argsort(-added.ravel(), kind="stable")
    most, places = order[:MOST], np.concatenate([order[:MOST], order[-LEAST:]])
    sentence: Sentence = [
        number(_name(int(most[0]), d_ff)), " adds most to the logit of ", number(told.words[0]),
        f" directly: {added.ravel()[most[0]]:+.2f}. Click a bar to switch its neuron.",
    ]  # fmt: skip
    switched = frozenset(_name(block * d_ff + n, d_ff) for block, ns in neurons.items() for n in ns)
    accent = f"@{run.card.colour}"
    bars = Bars(
        "2:17: neuron 17 of block 2; ▸ switched",
        [_name(int(place), d_ff) for place in places],
        added.ravel()[places],
        [accent if value > 0 else "@muted" for value in added.ravel()[places]],
        places,
        switched,
    )
    chart(
        Head(sentence, "contributions", run.card.colour),
        named_bars([bars], "added to the logit"),
        "The neurons that add most to the likeliest word's logit, and those that take most away.",
        f"{run.stamp} {told.words[0]} {sorted(switched)[:40]}",
        key="contributions",
        height=590,
        on_choose=partial(_toggle, navigator, neurons, d_ff),
    )
    top = {block: [int(n % d_ff) for n in most if n // d_ff == block] for block in range(n_blocks)}
    st.button(f"Switch the {MOST} that add most", on_click=navigator.choose,
              args=(SET, written_set(top)))  # fmt: skip


def _name(place: int, d_ff: int) -> str:
    return neuron_name(*divmod(place, d_ff))


def _toggle(navigator: Navigator, neurons: Neurons, d_ff: int, place: int) -> None:
    block, neuron = divmod(place, d_ff)
    now = {where: set(members) for where, members in neurons.items()}
    now.setdefault(block, set()).symmetric_difference_update({neuron})
    written = written_set(now)
    st.session_state[FULL] = len(written) > LONGEST
    if not st.session_state[FULL]:
        navigator.choose(SET, written)
