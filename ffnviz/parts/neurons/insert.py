"""Insert a neuron that activates on the chosen token and promotes a word of your own."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.plant import (
    LONGEST_WORD,
    Planted,
    PlantError,
    output_with,
    plant,
    word_id,
)
from ffnviz.analysis.neurons.plant_spread import PlantSpread, spread
from ffnviz.analysis.neurons.probes import read_probes
from ffnviz.analysis.prediction import likeliest, predict
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.figures.neurons import neuron as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted, signed
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.neurons.choose import error_cell
from ffnviz.parts.sheet import Button, Control, Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.passages import Passage, passages_cell
from ffnviz.pictures.text import text_cell
from ffnviz.state.actions import ChooseToken, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_setting, text_setting

STRENGTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
CHOOSY = tuple(place / 20 for place in range(20))
NO_BIASES = (
    "This FFN has no biases, so the new neuron activates on anything slightly like its token."
)
WORD = text_setting("plant", "moon", LONGEST_WORD, url_length=6 * LONGEST_WORD).with_control(
    "A word for the new neuron to say", example="moon"
)
STRENGTH = number_setting("strength", 1.5, STRENGTHS[0], STRENGTHS[-1]).with_control(
    "strength (× the FFN output's norm)", STRENGTHS, lambda stop: f"{stop:g}×"
)
CHOOSINESS = number_setting("choosy", 0.7, CHOOSY[0], CHOOSY[-1]).with_control(
    "similarity threshold", CHOOSY, percent
)
SETTINGS = (WORD, STRENGTH, CHOOSINESS)


def sheet(run: Run, values: Values) -> Sheet:
    """The prediction with one more neuron, beside where else the neuron activates."""
    biased = run.model.ffn(run.state.block).key_bias is not None
    reset = Button("Reset", Set({each.name: None for each in SETTINGS}) if values else None)
    controls: list[Control] = [WORD, STRENGTH, *([CHOOSINESS] if biased else []), reset]
    chosen = values[WORD], values[STRENGTH], values[CHOOSINESS]
    try:
        planted = planted_now(run, *chosen)
    except PlantError as error:
        note = error_cell("no-word", "This word cannot be inserted.", error)
        return Sheet([row(note)], controls)
    notes = [] if biased else [text_cell("no-biases", NO_BIASES)]
    elsewhere = [*notes, on_this_sentence(run, planted), on_other_sentences(run, chosen)]
    return Sheet([row(before_and_after(run, planted), elsewhere, widths=(1, 1.1))], controls)


def planted_now(run: Run, word: str, strength: float, choosiness: float) -> Planted:
    """The neuron inserted for the chosen token."""
    entry = word_id(run.model, word)
    return plant(run.model, run.trace, run.state.block, run.token, entry, strength, choosiness)


def before_and_after(run: Run, planted: Planted) -> Cell:
    """The ten likeliest words without the neuron and with it."""
    model, trace, block = run.model, run.whole, run.state.block
    plain = predict(model, trace, run.place)
    rows = model.stream_with(trace, block, output_with(trace, block, planted))
    logits = model.logits(rows[run.place])
    after = likeliest(model, logits, 10)
    was, now = (
        float(each.float().softmax(dim=-1)[planted.word])
        for each in (trace.logits_at(run.place), logits)
    )
    sentence: Sentence = [
        f"With one more neuron in block {block + 1}, {model.tokenizer.label(planted.word)} goes "
        f"from {percent(was)} to ", number(percent(now)), " at ",
        quoted(run.labels[run.token]), ".",
    ]  # fmt: skip
    d_ff = model.sizes.d_ff
    return guess_cell(
        run, sentence, "planted",
        [(f"{d_ff:,} neurons", plain, run.card.colour), (f"{d_ff + 1:,} neurons", after, "muted")],
        "The ten likeliest words without the inserted neuron and with it.",
        "planted-words",
    )  # fmt: skip


def on_this_sentence(run: Run, planted: Planted) -> Cell:
    """Its activation on every token."""
    hidden = planted.hidden(run.trace.blocks[run.state.block].ffn.input)
    values = hidden.float().cpu().numpy()
    threshold = threshold_for(run.card.phi)
    others = int(active(np.delete(values, run.token), threshold).sum())
    sentence: Sentence = ["Made for ", quoted(run.labels[run.token])]
    if len(values) > 1:
        among = f"{others} of the {len(values) - 1} other tokens"
        sentence += [", it also activates on ", number(among), " here."]
    else:
        sentence += [", the only token here, it has the value ", number(signed(values[0])), "."]
    return chart_cell(
        Head(sentence, "planted-here", run.card.colour),
        figures.values(run.labels, values, run.token, run.card.colour, threshold),
        "The inserted neuron's activation on each token of the sentence.",
        height=270,
        on_choose=ChooseToken,
    )


def on_other_sentences(
    run: Run, chosen: tuple[str, float, float]
) -> Measurement[PlantSpread] | Cell:
    """How far its effect spreads, measured on request."""
    if not run.card.has_mask:
        return text_cell("no-mask", f"Other sentences cannot be measured. {Capability.MASK.value}")
    setup = (run.card.id, run.device, run.state.sentence, run.state.block, run.token, *chosen)
    before = [Soon("planted-elsewhere", "How far its effect spreads to other sentences", 160)]

    def after(measured: Measured[PlantSpread]) -> Sequence[Cell]:
        return spread_cells(run, measured.result)

    return Measurement(
        "plant", setup, measure, after, chosen, before,
        "Try it on other sentences", "Reading other sentences …", on_request=True,
    )  # fmt: skip


def measure(
    run: Run, progress: Progress, word: str, strength: float, choosiness: float
) -> PlantSpread:
    """Read the probe sentences without it and with it."""
    probes = run.subject.per_network("probes", read_probes)
    planted = planted_now(run, word, strength, choosiness)
    threshold = threshold_for(run.card.phi)
    return spread(run.model, probes, run.state.block, planted, threshold, progress)


def spread_cells(run: Run, result: PlantSpread) -> tuple[Cell, Cell]:
    """How often its word is the likeliest elsewhere, and the tokens that activate it most."""
    worse = f"{result.loss.worse:+.4f} ± {result.loss.error:.4f}".replace("-", "−")
    loss: Sentence = [
        f"Of {len(result.loss.plain):,} masked tokens in other sentences its word is the likeliest "
        "at ", number(f"{result.said_after:,}"), f"; without it, at {result.said_before:,}. The "
        f"loss there goes from {result.loss.plain.mean():.3f} to "
        f"{result.loss.edited.mean():.3f} nats: {worse} (standard error of the paired "
        "differences).",
    ]  # fmt: skip
    sentence: Sentence = [
        "In other sentences it activates on ", number(percent(result.awake / result.n_tokens)),
        f" of {result.n_tokens:,} tokens",
        ", most strongly on these." if result.strongest else ".",
    ]  # fmt: skip
    return text_cell("planted-loss", loss), passages_cell(
        Head(sentence, "planted-elsewhere", run.card.colour),
        [Passage(signed(w.value), w.before, w.at, w.after) for w in result.strongest],
        key="planted-elsewhere",
    )
