"""Insert a neuron that activates on the chosen token and promotes a word of your own.

FFN(x) + φ(x · key + b) value: the same as an FFN of d_ff + 1 neurons with one more column of W1,
one more number in b1, one more row of W2 (Geva et al. 2021, eq. 2; so are facts written into a
network by De Cao et al. 2021 and, as an update of rank one, by Meng et al. 2022).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.analysis.neurons.intervention import MaskedBatch, ProbeLoss, losses_of, masked_batches
from ffnviz.analysis.neurons.probes import Probe, read_probes
from ffnviz.analysis.prediction import likeliest, predict
from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.models.activations import Activation
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.guess import guess_cell
from ffnviz.parts.neurons.choose import error_cell
from ffnviz.parts.sheet import Button, Control, Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import Passage, passages_cell, text_cell
from ffnviz.pictures.wording import number, percent, quoted, signed
from ffnviz.state.actions import ChooseToken, Set
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, number_setting, number_slider, text_setting

NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PLAIN_FFN)
AWAKE = 4.0  # its pre-activation at the token it was planted for
LONGEST_WORD = 40
OFFERED, SHORTEST = 3, 3  # words offered instead, and the least number of their letters


class PlantError(ValueError):
    """A text that is not a word of the network's vocabulary: says why, and what to type."""


@dataclass(frozen=True, eq=False)
class Planted:
    """A neuron that is not in the network."""

    key: Float[Tensor, "d_model"]  # (d_model,)
    bias: float  # added to x · key
    value: Float[Tensor, "d_model"]  # what one unit of activation writes, (d_model,)
    phi: Activation  # the FFN's φ
    word: int  # the vocabulary entry that its value points at

    def hidden(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows"]:
        """Its activation φ(x · key + bias) on rows of the FFN's input, (…, d_model) -> (…)."""
        return self.phi.function(x @ self.key + self.bias)

    def writes(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """What it adds to the FFN's output, (…, d_model), for rows of its input."""
        return self.hidden(x)[..., None] * self.value


def word_id(model: Network, typed: str) -> int:
    """The vocabulary entry of a typed word."""
    word = typed.strip()
    if not word:
        raise PlantError("Type a word for the neuron to say.")
    tokens = model.tokenizer.encode(word).tokens
    if tokens[0].id == model.tokenizer.mask_id and len(tokens) == 1:
        raise PlantError(f"{word} stands for a hidden word: type the word itself.")
    if len(tokens) == 1:
        return tokens[0].id
    pieces = [piece for token in tokens if (piece := token.text.strip())]
    vocabulary = map(model.tokenizer.word, range(model.tokenizer.vocab_size))
    begun = (entry.strip() for entry in vocabulary if entry.startswith(f" {pieces[0].lower()}"))
    whole = (entry for entry in begun if entry.isalpha() and len(entry) >= SHORTEST)
    offered = sorted(whole, key=len)[:OFFERED]
    hint = f" Words it has whole: {', '.join(offered)}." if offered else " Type a more common word."
    raise PlantError(f"This network has “{word}” only in pieces: {' + '.join(pieces)}.{hint}")


@torch.no_grad()
def plant(
    model: Network,
    trace: ForwardPass,
    block: int,
    token: int,
    word: int,
    strength: float,
    choosiness: float,
) -> Planted:
    """A neuron that is active at a token and writes towards a word.

    With x the FFN's input at the token, its pre-activation at any input y is
    4 · (x·y / x·x − choosiness) / (1 − choosiness); `choosiness` is below 1, and taken as 0 where
    the FFN has no biases. What it writes at the token is `strength` times
    as long as the FFN's own output, and in the direction along which the word's logit rises fastest
    above the average word's: gain ⊙ (E_w − mean(E)), centred as the final norm centres.
    """
    require(model, NEEDS)
    head, words = word_head(model)
    ffn, record = model.ffn(block), trace.blocks[block].ffn
    x = record.input[token]
    least = choosiness if ffn.key_bias is not None else 0.0
    key = AWAKE / (1 - least) * x / x.square().sum().clamp_min(1e-12)
    bias = -AWAKE * least / (1 - least)
    direction = words.vectors[word] - words.vectors.mean(dim=0)
    if head.norm is not None:
        direction = head.norm.undivided_along(direction)
    direction = direction / direction.norm().clamp_min(1e-12)
    awake = float(ffn.phi.function(x @ key + bias))
    length = strength * record.output[token].norm() / awake
    return Planted(key, bias, length * direction, ffn.phi, word)


@torch.no_grad()
def output_with(trace: ForwardPass, block: int, planted: Planted) -> Tensor:
    """The output of the block's FFN with the neuron in it, (*batch, T, d_model)."""
    record = trace.blocks[block].ffn
    return record.output + planted.writes(record.input)


SPREAD_NEEDS = (*NEEDS, Capability.MASK)
SHOWN = 10


@dataclass(frozen=True)
class ActivatingToken:
    """A token of another sentence that activates the neuron."""

    value: float  # the neuron's activation
    # before, at, after: the sentence as the network read it; `at` is the token
    before: str
    at: str
    after: str


@dataclass(frozen=True)
class PlantSpread:
    """The probe sentences, a fifth of their tokens masked, without the neuron and with it."""

    loss: ProbeLoss  # of each masked token, without it and with it
    # said_before, said_after: masked tokens at which its word is the likeliest
    said_before: int
    said_after: int
    awake: int  # tokens on which it is active
    n_tokens: int
    strongest: tuple[ActivatingToken, ...]  # those with the largest |activation|, largest first


@torch.no_grad()
def spread(
    model: Network,
    probes: Sequence[Probe],
    block: int,
    planted: Planted,
    threshold: float,
    progress: Progress = lambda _: None,
) -> PlantSpread:
    """Run other sentences without the neuron and with it; blocks before it run once."""
    require(model, SPREAD_NEEDS)
    losses: tuple[list[NDArray[np.float64]], ...] = ([], [])
    said, awake, n_tokens = [0, 0], 0, 0
    strongest: list[tuple[float, int, ActivatingToken]] = []
    for batch in masked_batches(model, probes):
        run = model.run(batch.ids.to(model.device))
        values = planted.hidden(run.blocks[block].ffn.input)
        masked = batch.rows, batch.places.to(model.device)
        changed = model.stream_with(run, block, output_with(run, block, planted))
        for with_it, stream in enumerate((run.blocks[-1].output, changed)):
            logits = model.logits(stream[masked])
            losses[with_it].append(losses_of(logits, batch.targets))
            said[with_it] += int((logits.argmax(dim=-1) == planted.word).sum())
        awake += int(active(values, threshold).sum())
        n_tokens += values.numel()
        tokens = _strongest(model, batch, values.float().cpu().numpy(), threshold, n_tokens)
        strongest = heapq.nlargest(SHOWN, [*strongest, *tokens])
        progress(batch.done / len(probes))
    plain, edited = map(np.concatenate, losses)
    return PlantSpread(
        ProbeLoss(plain, edited),
        said[0],
        said[1],
        awake,
        n_tokens,
        tuple(token for *_, token in strongest),
    )


def _strongest(
    model: Network, batch: MaskedBatch, values: Array, threshold: float, number: int
) -> list[tuple[float, int, ActivatingToken]]:
    """A batch's strongest tokens, behind |activation| and a unique number to sort them by."""
    strongest, fires = [], active(values, threshold)
    for cell in np.argsort(-np.abs(values), axis=None)[:SHOWN]:
        text, token = divmod(int(cell), values.shape[1])
        if not fires[text, token]:
            break
        value, words = float(values[text, token]), _as_read(model, batch, text)
        at, after = words[token], "".join(words[token + 1 :])
        before = "".join(words[:token]) + at[: len(at) - len(at.lstrip())]
        activating = ActivatingToken(value, before.lstrip(), at.strip(), after)
        strongest.append((abs(value), -number - int(cell), activating))
    return strongest


def _as_read(model: Network, batch: MaskedBatch, text: int) -> list[str]:
    """A text's tokens as the network read them; a mask has the space before the word it hides."""
    words = [model.tokenizer.word(int(id_)) for id_ in batch.ids[text]]
    for place, target in zip(batch.places[text], batch.targets[text], strict=True):
        if model.tokenizer.word(int(target)).startswith(" "):
            words[int(place)] = f" {words[int(place)]}"
    return words


STRENGTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
CHOOSY = tuple(place / 20 for place in range(20))
NO_BIASES = (
    "This FFN has no biases, so the new neuron activates on anything slightly like its token."
)
WORD = text_setting("plant", "moon", LONGEST_WORD, url_length=6 * LONGEST_WORD).with_control(
    "A word for the new neuron to say", example="moon"
)
STRENGTH = number_slider("strength", 1.5, STRENGTHS, "strength (× the FFN output's norm)", "{:g}×")
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
        return Sheet([row(error_cell("no-word", "This word cannot be inserted.", error))], controls)
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
    sentence = (
        f"With one more neuron in block {block + 1}, {quoted(model.tokenizer.label(planted.word))} "
        f"goes from {percent(was)} to {number(percent(now))} at {quoted(run.labels[run.token])}."
    )
    d_ff = model.sizes.d_ff
    guesses = [
        (f"{d_ff:,} neurons", plain, run.card.colour),
        (f"{d_ff + 1:,} neurons", after, "muted"),
    ]
    alt = "The ten likeliest words without the inserted neuron and with it."
    return guess_cell(run, sentence, "planted", guesses, alt, "planted-words")


def on_this_sentence(run: Run, planted: Planted) -> Cell:
    """Its activation on every token."""
    values = planted.hidden(run.trace.blocks[run.state.block].ffn.input).float().cpu().numpy()
    threshold = threshold_for(run.card.phi)
    others = int(active(np.delete(values, run.token), threshold).sum())
    sentence = f"The neuron for {quoted(run.labels[run.token])}"
    if len(values) > 2:
        among = f"{others} of the {len(values) - 1} other tokens"
        sentence += f" also fires on {number(among)} here."
    elif len(values) == 2:
        fires = "also fires" if others else "does not fire"
        sentence += f" {number(fires)} on the other token here."
    else:
        sentence += f", the only token here, has the activation {number(signed(values[0]))}."
    figure = figures.values(run.labels, values, run.token, run.card.colour, threshold)
    alt = "The inserted neuron's activation on each token of the sentence."
    head = Head(sentence, "planted-here", run.card.colour)
    return chart_cell(head, figure, alt, height=270, on_choose=ChooseToken)


def on_other_sentences(
    run: Run, chosen: tuple[str, float, float]
) -> Measurement[PlantSpread] | Cell:
    """How far its effect spreads, measured on request."""
    if not run.card.has_mask:
        return text_cell("no-mask", f"Other sentences cannot be measured. {Capability.MASK.value}")
    setup = (run.card.id, run.device, run.state.sentence, run.state.block, run.token, *chosen)
    before = [Soon("planted-elsewhere", "How far its effect spreads to other sentences", 160)]

    def after(measured: Measured[PlantSpread]) -> Sequence[Cell]:
        result, loss = measured.result, measured.result.loss
        worse = f"{loss.worse:+.4f} ± {loss.error:.4f}".replace("-", "−")
        said = (
            f"For {number(f'{result.said_after:,}')} of {len(loss.plain):,} hidden words in other "
            "sentences, the network's guess is the inserted neuron's word; without the neuron, "
            f"for {result.said_before:,}. The loss there goes from {loss.plain.mean():.3f} to "
            f"{loss.edited.mean():.3f} nats: {worse} (standard error of the paired differences)."
        )
        share = number(percent(result.awake / result.n_tokens))
        sentence = (
            f"In other sentences it activates on {share} of {result.n_tokens:,} "
            f"tokens{', most strongly on these.' if result.strongest else '.'}"
        )
        head = Head(sentence, "planted-elsewhere", run.card.colour)
        shown = [Passage(signed(w.value), w.before, w.at, w.after) for w in result.strongest]
        return text_cell("planted-loss", said), passages_cell(head, shown, "planted-elsewhere")

    words = "Try it on other sentences", "Reading other sentences …"
    return Measurement("plant", setup, measure, after, chosen, before, *words, on_request=True)


def measure(
    run: Run, progress: Progress, word: str, strength: float, choosiness: float
) -> PlantSpread:
    """Read the probe sentences without it and with it."""
    probes = run.subject.per_network("probes", read_probes)
    planted = planted_now(run, word, strength, choosiness)
    threshold = threshold_for(run.card.phi)
    return spread(run.model, probes, run.state.block, planted, threshold, progress)
