"""The Journey: one sentence's way through the FFN of one block, on one screen."""

import numpy as np

from ffnviz.analysis.journey.nearest import nearest_words
from ffnviz.analysis.journey.ordering import ORDERS, neuron_order
from ffnviz.analysis.journey.overview import awake_by_block
from ffnviz.analysis.journey.path import FfnPath, Vector, ffn_path
from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.neurons.memory import WRITES_NEEDS, written_words
from ffnviz.analysis.neurons.strongest import neuron_values, strongest_neuron
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.analysis.sparsity.awake import Awake, awake, threshold_for
from ffnviz.figures.journey import sentences
from ffnviz.figures.journey.overview import overview
from ffnviz.figures.journey.sentences import awake_means
from ffnviz.figures.wording import Sentence, neuron_name, number, percent
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.guess import asked, under_guess
from ffnviz.parts.part import NEURONS
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.activation_map import ActivationMap, maps_cell
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.ffn_picture import Stage, ffn_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.neuron_card import neuron_card_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ChooseBlock, ChooseNeuron, ChooseOrder, OpenNeuron, OpenPage
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.settings import Values
from ffnviz.state.state import Neuron

FEW_BLOCKS = 4  # of more, one picture shows them all
WIDTHS = (1.45, 2.8)
DOORS = {  # of a stage of the FFN's picture: the part about it, its page and name
    "x": ("Encoder block", "block", "block"),
    "pre": ("The activation function", "sparsity", "bend"),
    "hidden": ("Active neurons", "sparsity", "awake"),
    "out": ("What it writes", "neurons", "writes"),
    "stream": ("Residual and LayerNorm", "lab", "residual"),
    "total": ("Logit lens", "vocabulary", "lens"),
}


def sheet(run: Run, _: Values) -> Sheet:
    """The guess, and the token's way through the FFN; below, one neuron and all of them."""
    rows = [
        row(what_it_says(run), ffn_of_the_token(run), widths=WIDTHS),
        row(chosen_neuron(run), every_token_every_neuron(run), widths=WIDTHS),
    ]
    if run.model.sizes.n_blocks > FEW_BLOCKS:
        rows.insert(1, row(all_blocks(run)))
    return Sheet(rows)


def ffn_of_the_token(run: Run) -> Cell:
    """The chosen token's way through the FFN."""
    counted = _awake(run.subject, run.state.block)
    count = int(counted.counts[run.token])
    sentence = sentences.of_ffn(run.labels[run.token], count, counted.d_ff, counted.threshold)
    fate = "exactly zero" if counted.threshold == 0 else "near zero"
    path = ffn_path(run.trace, run.state.block, run.token, run.card.phi)
    by_value = np.argsort(-path.pre_activation, kind="stable")
    order = np.arange(counted.d_ff) if run.state.order == "index" else by_value
    neuron = _neuron(run)
    colour = run.card.colour
    return ffn_cell(
        Head(sentence, "ffn" if path.gate is None else "gated", colour),
        _stages(path, f"{counted.d_ff - count:,} {fate}"),
        _steps(path, run),
        order,
        neuron.index if neuron.network == run.card.id else None,
        key="ffn",
        on_choose=lambda chosen: ChooseNeuron(run.neuron(chosen)),
        doors={stage: title for stage, (title, _, _) in DOORS.items()},
        on_door=lambda stage: OpenPage(*DOORS[stage][1:]),
    )


def _stages(path: FfnPath, asleep: str) -> list[Stage]:
    d_model, d_ff = f"({len(path.input):,})", f"({len(path.hidden):,})"
    above = f"{int((path.pre_activation > 0).sum()):,} above 0"

    def stream(name: str, title: str, values: Vector, scale: str) -> Stage:
        norm = f"norm {float(np.linalg.norm(values)):.1f}"
        return Stage(name, title, d_model, norm, values, neurons=False, scale=scale)

    if path.gate is not None and path.value is not None:
        # What φ makes of one projection is multiplied with another: the two, and their product.
        middle = [
            Stage("gate", "gate", d_ff, above, path.gate, True, "gate"),
            Stage("value", "value", d_ff, "x V", path.value, True, "value"),
        ]
    else:
        middle = [Stage("pre", "before φ", d_ff, above, path.pre_activation, True, "neurons")]
    return [
        stream("x", "input x", path.input, "input"),
        *middle,
        Stage(
            "hidden",
            "after φ" if path.gate is None else "product",
            d_ff,
            asleep,
            path.hidden,
            True,
            "neurons",
        ),
        stream("out", "output", path.output, "stream"),
        stream("stream", "stream", path.stream, "stream"),
        stream("total", "new stream", path.new_stream, "stream"),
    ]


def _steps(path: FfnPath, run: Run) -> list[tuple[str, str]]:
    times = f"{len(path.hidden) / len(path.input):.3g}"
    adds = "add to" if run.model.ffn(run.state.block).write_norm is None else "norm, add to"
    whole = np.allclose(path.stream + path.output, path.new_stream, rtol=1e-3, atol=1e-3)
    ends = [("+", adds), ("=", "gives" if whole or adds != "add to" else "norm gives")]
    if path.gate is not None:
        return [("φ", f"× {times}"), ("×", "times"), ("=", "is"), ("W₂", f"÷ {times}"), *ends]
    bends = [("W₁", f"expand × {times}"), ("φ", run.card.phi.label)]
    return [*bends, ("W₂", f"compress ÷ {times}"), *ends]


def what_it_says(run: Run) -> Cell:
    """The softmax at the chosen token, with this block's FFN and without."""
    if missing(run.card, (Capability.WORD_HEAD,)):
        return nearest_input_words(run)
    block = run.state.block
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.whole, block, run.place)
    sentence = sentences.of_prediction(
        run.labels[run.token], _best(told), _best(without), block, asked(run)
    )
    return bars_cell(
        Head(sentence, "prediction", run.card.colour, under=under_guess(run, warn=False)),
        [
            Bars("with the FFN", told.words, told.probabilities, run.card.colour),
            Bars(f"without FFN {block + 1}", without.words, without.probabilities, "muted"),
        ],
        key="prediction",
        leads=True,
    )


def nearest_input_words(run: Run) -> Cell:
    """Where there is no word head: whose input vectors the last stream points at."""
    why = f"No prediction for this network. {Capability.WORD_HEAD.value}"
    try:
        nearest = nearest_words(run.model, run.trace, run.token)
    except NotForThisNetwork as error:
        return text_cell("prediction", f"{why} {error}", tone="info")
    return bars_cell(
        Head(sentences.of_nearest(run.labels[run.token], nearest.words[0], nearest.cosines[0]),
             "nearest", run.card.colour),
        [Bars("nearest by cosine", nearest.words, nearest.cosines.clip(0),
               run.card.colour)],
        key="prediction",
        of="cosine",
        leads=True,
    )  # fmt: skip


def all_blocks(run: Run) -> Cell:
    """What each token wakes in each block; a click chooses the block."""
    threshold = threshold_for(run.card.phi)
    shares = run.subject.per_sentence(
        ("awake by block", threshold), lambda: awake_by_block(run.trace, threshold)
    )
    return chart_cell(
        Head(sentences.of_blocks(shares.mean(axis=1), threshold), "overview", run.card.colour),
        overview(shares, run.labels, run.state.block, run.card.colour),
        "The share of neurons that each token activates, in each block.",
        height=min(520, 130 + 16 * len(shares)),
        on_choose=ChooseBlock,
    )


def every_token_every_neuron(run: Run) -> Cell:
    """Each network's hidden activations, ReLU over GELU."""
    counted = [(traced.card, _awake(traced, run.block_of(traced))) for traced in run.both]
    sentence = sentences.of_maps(
        [(card.label, traced.share, traced.threshold, card.colour) for card, traced in counted]
    )
    shown = []
    for traced, (_, awake_) in zip(run.both, counted, strict=True):
        computed = traced.trace.blocks[run.block_of(traced)].ffn.hidden.float().cpu()
        hidden = computed.numpy()
        shown.append(ActivationMap(
            traced.card.id, traced.card.label, traced.card.colour,
            f"{percent(awake_.share)} {awake_means(awake_.threshold)}",
            hidden, neuron_order(hidden, run.state.order),
            token_labels(traced.trace.tokens), int(run.tokens_of(traced)[run.token]),
            computed.half().numpy(),
        ))  # fmt: skip
    neuron = _neuron(run)
    ours = all(traced.card.ours for traced in run.both)

    def named(network: str, index: int) -> Neuron:
        return Neuron(network, run.block_of(run.watched(network)), index)

    return maps_cell(
        Head(sentence, "maps" if ours else "any-maps", run.card.colour),
        shown,
        (neuron.network, neuron.index),
        ORDERS,
        run.state.order,
        key="maps",
        on_choose=lambda network, index: ChooseNeuron(named(network, index)),
        on_order=ChooseOrder,
        on_open=lambda network, index, token: OpenNeuron(
            named(network, index), NEURONS, "working", token
        ),
    )


def chosen_neuron(run: Run) -> Cell:
    """One neuron on every token, and the words it writes."""
    neuron = _neuron(run)
    traced = run.watched(neuron.network)
    block, labels = run.block_of(traced), token_labels(traced.trace.tokens)
    values = neuron_values(traced.trace, block, neuron.index)
    writes: tuple[str, ...] = ()
    if not missing(traced.card, WRITES_NEEDS):
        writes = traced.per_network(
            f"written {block} {neuron.index}",
            lambda: written_words(traced.network, block, neuron.index, k=8)[0].words,
        )
    return neuron_card_cell(
        Head(
            sentences.of_neuron(labels, values, threshold_for(traced.card.phi), block),
            "neuron",
            traced.card.colour,
        ),
        f"Neuron {neuron_name(block, neuron.index)} · {traced.card.label}",
        labels,
        values,
        int(run.tokens_of(traced)[run.token]),
        writes,
        key="neuron-card",
        on_meet=lambda token: OpenNeuron(
            neuron, NEURONS, "wakes" if token is None else "working", token
        ),
    )


def timing_line(run: Run) -> Cell:
    """How long the trace took, and how much of that its FFNs."""
    timing = run.subject.timing
    where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (Apple MPS)"}
    proof: Sentence = []
    if run.card.proof:
        about, *equations = run.card.proof
        proof = [f"{about}. Checked numerically on this network: {' · '.join(equations)}"]
    quick: Sentence = [
        number(f"{timing.total_ms:.1f} ms"),
        f" on {where[run.model.device.type]}, {timing.ffn_share:.0%} of it in the FFNs",
    ]  # fmt: skip
    return text_cell("timing-line", quick, *([proof] if proof else []), tone="quiet")


def _awake(traced: TracedModel, block: int) -> Awake:
    return awake(traced.trace, block, threshold_for(traced.card.phi))


def _neuron(run: Run) -> Neuron:
    """The chosen one, in whichever of the networks; else the strongest on the token."""
    chosen = run.state.neuron
    sizes = {traced.card.id: traced.network.sizes.d_ff for traced in run.both}
    if chosen is not None and chosen.index < sizes.get(chosen.network, 0):
        return chosen
    return run.neuron(strongest_neuron(run.trace, run.state.block, run.token))


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])
