"""What wakes a neuron: on this sentence, by its key, and its strongest examples."""

import numpy as np
import streamlit as st

from ffnviz.analysis.neurons.memory import key_matches
from ffnviz.analysis.neurons.neuron_index import Example, NeuronIndex
from ffnviz.analysis.neurons.strongest import neuron_values
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.figures.bars import Bars, named_bars
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.parts.neurons.choose import chooser, index_of
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages
from ffnviz.state.actions import ChooseToken
from ffnviz.state.run import Run

OF_EACH_SIDE = 4  # examples at least, of twelve, where there are as many


def render(run: Run, navigator: Navigator) -> None:
    """Its values over what its key matches, beside its examples."""
    neuron = chooser(run, navigator)
    here, examples = st.columns([1.15, 1], gap="medium")
    with here:
        on_this_sentence(run, neuron, navigator)
        what_its_key_matches(run, neuron)
    with examples:
        index = index_of(run, navigator)
        if index is not None:
            strongest_examples(run, index, neuron)


def on_this_sentence(run: Run, neuron: int, navigator: Navigator) -> None:
    """Its value on every token."""
    block, accent = run.state.block, run.card.colour
    values = neuron_values(run.trace, block, neuron)
    threshold = threshold_for(run.card.phi)
    most = int(np.abs(values).argmax())
    fires = int(active(values, threshold).sum())
    sentence: Sentence = [
        f"Neuron {neuron_name(block, neuron)} fires on ",
        number(f"{fires} of {len(values)} tokens"),
    ]  # fmt: skip
    if fires:
        sentence += [
            ", strongest on ",
            quoted(run.labels[most]),
            ": ",
            number(signed(values[most])),
        ]
    chart(
        Head([*sentence, "."], "fires", accent),
        figures.values(run.labels, values, run.token, accent, threshold),
        "The neuron's value on each token of the sentence.",
        f"{run.stamp} {neuron}",
        key="neuron-values",
        height=310,
        on_choose=lambda token: navigator.do(ChooseToken(token)),
    )


def what_its_key_matches(run: Run, neuron: int) -> None:
    """The words whose embedding would wake it most."""
    found = key_matches(run.model, run.state.block, neuron, 16)
    half = len(found.words) // 2
    colour, known = f"@{run.card.colour}", run.card.provenance
    counted = known is not None and known.token_counts is not None
    sentence: Sentence = [
        f"Of all {'common ' if counted else ''}words, its key matches the embedding of ",
        number(found.words[0]), " best: alone in the stream it would give a pre-activation of ",
        number(signed(found.scores[0])), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "keymatch", run.card.colour),
        named_bars(
            [
                Bars("best", found.words[:half], found.scores[:half], colour),
                Bars("next", found.words[half:], found.scores[half:], colour),
            ],
            "pre-activation from the embedding alone",
        ),
        "The words whose embeddings match the neuron's key best.",
        f"{run.stamp} {neuron}",
        key="key-matches",
        height=330,
    )


def strongest_examples(run: Run, index: NeuronIndex, neuron: int) -> None:
    """The sentences in which it is strongest; where it may be below zero, of each side."""
    found = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    above, below = (
        [_passage(run, index, each) for each in found if sign * each.value > 0]
        for sign in (1, -1)
    )  # fmt: skip
    where: Sentence = [" in ", number(index.source), "; what wakes it is underlined."]
    lists: list[tuple[Sentence, list[Passage]]] = [(["Its strongest examples", *where], above)]
    if not found:
        known = " above zero" * (run.card.signed and not index.both_sides)
        lists = [([number(f"It never fired{known}"), f" on {index.source}."], [])]
    elif index.both_sides:
        lists = [
            ([number("Its highest values"), *where], above),
            ([number("Its lowest values"), *([":"] if above else where)], below),
        ]
        never: Sentence = [f" on {index.source}."]
        lists = [
            (sentence if shown else [number(f"It never fired {side} zero"), *never], shown)
            for (sentence, shown), side in zip(lists, ("above", "below"), strict=True)
        ]
    for (sentence, shown), side in zip(lists, ("", "-below"), strict=False):
        passages(
            Head(sentence, "examples", run.card.colour),
            shown,
            f"{run.stamp} {neuron}",
            key=f"examples-of-neuron{side}",
        )


def strongest_passages(run: Run, index: NeuronIndex, neuron: int) -> list[Passage]:
    """Where it is strongest, as passages, the strongest first."""
    found = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    return [_passage(run, index, each) for each in found]


def _passage(run: Run, index: NeuronIndex, example: Example) -> Passage:
    text = index.texts[example.text]
    tokens = run.model.tokenizer.encode(text, run.model.sizes.max_tokens).tokens
    token = tokens[min(example.token, len(tokens) - 1)]
    start = token.end - len(token.text.lstrip())
    return Passage(signed(example.value), text[:start], text[start : token.end], text[token.end :])
