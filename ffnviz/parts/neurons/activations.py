"""What activates a neuron: its key, its examples, the tags, tokens and places it fires on."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.gathering import LABELS
from ffnviz.analysis.neurons.histogram import edges
from ffnviz.analysis.neurons.intervention import neuron_values
from ffnviz.analysis.neurons.memory import key_matches
from ffnviz.analysis.neurons.neuron_index import Example, NeuronIndex
from ffnviz.analysis.sparsity import active, threshold_for
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons import choose
from ffnviz.parts.neurons.choose import TokensOf, sheet_of_index, tokens_read, what_others_say
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures import wording
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import Passage, passages_cell
from ffnviz.pictures.wording import Sentence, counted, neuron_name, number, percent, quoted, signed
from ffnviz.state.actions import ChooseNeuron, ChooseToken
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

OF_EACH_SIDE = 4  # examples at least, of twelve, where there are as many


def sheet(run: Run, _: Values) -> Sheet:
    """The neuron's values and the words that match its key, beside its examples."""
    neuron, at_hand = neuron_shown(run), choose.index_with_notes(run)
    examples = [] if at_hand.index is None else strongest_examples(run, at_hand.index, neuron)
    left = [on_this_sentence(run, neuron), what_its_key_matches(run, neuron)]
    right = [*what_others_say(run, neuron), *at_hand.notes, *examples]
    controls = [*choose.neuron_controls(run), *at_hand.controls]
    return Sheet([row(left, right, widths=(1.15, 1))], controls)


def on_this_sentence(run: Run, neuron: int) -> Cell:
    """The neuron's value on every token."""
    block, accent = run.state.block, run.card.colour
    values = neuron_values(run.trace, block, neuron)
    threshold = threshold_for(run.card.phi)
    fires = active(values, threshold)
    sentence = active_on(run, f"Neuron {neuron_name(block, neuron)} fires", values, fires)
    figure = figures.values(run.labels, values, run.token, accent, threshold)
    alt = "The neuron's value on each token of the sentence."
    head = Head(sentence, "fires", accent)
    return chart_cell(head, figure, alt, key="neuron-values", height=300, on_choose=ChooseToken)


def active_on(run: Run, beginning: str, values: Array, active: NDArray[np.bool_]) -> Sentence:
    """On how many tokens a neuron or a feature is active, and where it is strongest."""
    n, most = int(active.sum()), int(np.abs(values).argmax())
    of_all = f"{n} of {counted(len(values), 'token')}"
    sentence = f"{beginning} on {number(of_all)}"
    if n:
        sentence += f", strongest on {quoted(run.labels[most])}: {signed(values[most])}"
    return f"{sentence}."


def what_its_key_matches(run: Run, neuron: int) -> Cell:
    """The words whose embeddings would activate it most."""
    matches = key_matches(run.model, run.state.block, neuron, 16)
    half, scores = len(matches.words) // 2, matches.scores.numpy()
    colour, provenance = run.card.colour, run.card.provenance
    counted = provenance is not None and provenance.token_counts is not None
    sentence = (
        f"Of {'common' if counted else 'all'} words {number(f'“{matches.words[0]}”')} matches this "
        f"neuron's key best: alone, it gives a pre-activation of {signed(scores[0])}."
    )
    panels = [
        Bars("best", matches.words[:half], scores[:half], colour),
        Bars("next", matches.words[half:], scores[half:], colour),
    ]
    alt = "The words whose embeddings match the neuron's key best."
    of = "pre-activation from the embedding alone"
    return bars_cell(Head(sentence, "keymatch", colour), panels, "key-matches", alt, of=of)


def strongest_examples(
    run: Run, index: NeuronIndex, neuron: int, tokens_of: TokensOf | None = None
) -> list[Cell]:
    """The sentences in which it is strongest; on either side of zero, if the index has both."""
    tokens_of = tokens_of or partial(tokens_read, run)
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    nowhere = f" on {index.source}."
    if not examples:
        where = " above zero" * (run.card.signed and not index.both_sides)
        return [_examples(run, f"{number(f'It never fired{where}')}{nowhere}", [])]
    above, below = (
        [_passage(index, each, tokens_of) for each in examples if sign * each.value > 0]
        for sign in (1, -1)
    )
    where = f" in {index.source}; the token that activates it is underlined."
    if not index.both_sides:
        return [_examples(run, f"Its strongest examples{where}", above)]
    highest = f"{number('Its highest values')}{where}"
    lowest = f"{number('Its lowest values')}{':' if above else where}"
    if not above:
        highest = f"{number('It never fired above zero')}{nowhere}"
    if not below:
        lowest = f"{number('It never fired below zero')}{nowhere}"
    return [_examples(run, highest, above), _examples(run, lowest, below, "-below")]


def _examples(run: Run, sentence: Sentence, shown: list[Passage], side: str = "") -> Cell:
    head = Head(sentence, "examples", run.card.colour)
    return passages_cell(head, shown, f"examples-of-neuron{side}")


def strongest_passages(run: Run, index: NeuronIndex, neuron: int) -> list[Passage]:
    """Where it is strongest, as passages, the strongest first."""
    examples = index.by_number[run.state.block].strongest(neuron, OF_EACH_SIDE)
    return [_passage(index, each, partial(tokens_read, run)) for each in examples]


def _passage(index: NeuronIndex, example: Example, tokens_of: TokensOf) -> Passage:
    text = index.texts[example.text]
    return choose.passage(text, tokens_of(text), example.token, example.value)


QUANTILES = (("half", 0.5), ("90%", 0.9), ("99%", 0.99))
OF_BOTH_SIDES = (("1%", 0.01), ("half", 0.5), ("99%", 0.99))


def distribution_sheet(run: Run, _: Values) -> Sheet:
    """The histogram beside the kinds of tokens and the neurons that fire with it."""
    neuron = neuron_shown(run)

    def rows(index: NeuronIndex) -> list[Row]:
        right = [on_which_tokens(run, index, neuron), fires_with(run, index, neuron)]
        return [row(histogram(run, index, neuron), right, widths=(1.3, 1))]

    return sheet_of_index(run, rows)


def histogram(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The histogram of its values, with quantiles."""
    block = index.by_number[run.state.block]
    shares = OF_BOTH_SIDES if run.card.signed else QUANTILES
    least, most = float(block.least[neuron]), float(block.most[neuron])
    # A quantile is right to within its bin, and so may lie beyond the last value.
    ends_at = (least if least < 0 else -np.inf, most if most > 0 else np.inf)
    marks = [
        (name, float(np.clip(block.quantile(neuron, share), *ends_at))) for name, share in shares
    ]
    tokens, (_, first), (_, last) = f"{index.n_tokens:,} tokens", marks[0], marks[-1]
    start = f"On 99% of {tokens} its activation is at most"
    if run.card.signed:
        start = f"On 98% of {tokens} its activation is between {signed(first)} and"
    sentence = (
        f"{start} {number(signed(last))}; on average it is {signed(block.mean[neuron])} ± "
        f"{float(block.deviation[neuron]):.2f}"
    )
    ends = [f"the minimum is {signed(least)}"] * (least < 0)
    ends += [f"the maximum is {signed(most)}"] * (most > 0)
    if not ends and (index.both_sides or not run.card.signed):
        ends = ["and it never fires"]
    sentence += f"; {' and '.join(ends)}." if ends else "."
    counts, colour = block.histogram[neuron], run.card.colour
    head = Head(sentence, "spread", colour)
    figure = figures.histogram_figure(edges(), counts, marks, f"@{colour}")
    alt = "How the neuron's values on all tokens are spread."
    return chart_cell(head, figure, alt, key="values-of-neuron", height=635)


def on_which_tokens(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The share of each kind of token that activates it."""
    fired = index.by_number[run.state.block].by_class[:, neuron]
    shares = fired / np.maximum(index.of_class, 1)
    most = int(shares.argmax())
    sentence = "It fires on no kind of token."
    if shares[most]:
        share, n = percent(float(shares[most])), index.of_class[most]
        sentence = f"It fires most often on {number(LABELS[most])}: on {share} of {n:,}."
    return bars_cell(
        Head(sentence, "kinds", run.card.colour),
        [Bars("", LABELS, 100 * shares, run.card.colour)],
        key="kinds-of-neuron",
        alt="The share of each kind of token that activates the neuron.",
        of="% of tokens of that kind",
    )


def fires_with(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The neurons of the block that fire on the same tokens."""
    block = index.by_number[run.state.block]
    significant = block.partners[:, neuron] >= 0
    partners = block.partners[significant, neuron]
    cosines = block.alike[significant, neuron].astype(np.float64)
    names = [neuron_name(run.state.block, partner) for partner in partners]
    sentence = "No neuron here fires with it more often than by chance."
    if names:
        sentence = (
            f"Neuron {number(names[0])} is its closest partner: their cosine is "
            f"{float(block.alike[0, neuron]):.2f}."
        )
    return bars_cell(
        Head(sentence, "partners", run.card.colour),
        [Bars("", [f"neuron {name}" for name in names], cosines, run.card.colour, partners)],
        key="partners-of-neuron",
        alt="The neurons of the block that fire on the same tokens.",
        of="cosine of co-activation, ± 0.04",
        on_choose=lambda other: ChooseNeuron(run.neuron(other)),
    )


LEVEL = 0.05


@dataclass(frozen=True)
class TagCount:
    """How often a neuron fired on the texts of one tag."""

    tag: str
    fired: int  # texts with the tag in which it fired
    n: int  # texts with the tag
    share_elsewhere: float  # share of the other texts in which it fired, from 0 to 1
    p: float  # of so many or more by chance (Fisher's exact test, one-sided)
    corrected: float  # p after Holm's correction for the number of tags

    @property
    def share(self) -> float:
        """Share of the tag's texts in which it fired, from 0 to 1."""
        return self.fired / max(self.n, 1)  # a file of blank lines is a tag without texts

    @property
    def beyond_chance(self) -> bool:
        """Whether chance is ruled out at LEVEL."""
        return self.corrected < LEVEL


def tag_counts(index: NeuronIndex, block: int, neuron: int, side: int = 1) -> list[TagCount]:
    """All tags for one neuron above zero, or for side −1 below, the least likely by chance first.

    The sides are kept apart: on one, a neuron writes the opposite of what it writes on the other.
    """
    texts, by_tag = index.by_number[block].sides[side]
    fired, n_texts = int(texts[neuron]), index.n_texts
    tags = list(zip(index.tags, by_tag[:, neuron].tolist(), index.with_tag.tolist(), strict=True))
    tails = [hypergeometric_tail(both, n_texts, n, fired) for _, both, n in tags]
    all_corrected = holm(np.array(tails)).tolist()
    counts = [
        TagCount(tag, both, n, (fired - both) / max(n_texts - n, 1), p, corrected)
        for (tag, both, n), p, corrected in zip(tags, tails, all_corrected, strict=True)
        if n
    ]
    return sorted(counts, key=lambda count: (count.p, -count.share, count.tag))


def hypergeometric_tail(both: int, n_all: int, n_tag: int, n_fired: int) -> float:
    """P(X ≥ both) if n_fired of n_all, n_tag with the tag, are drawn at random (Fisher 1935)."""
    most = min(n_tag, n_fired)
    counts = np.arange(max(both, n_fired + n_tag - n_all), most + 1)
    logs = np.concatenate([[0.0], np.log(np.arange(1, n_all + 1)).cumsum()])  # of factorials
    log_p = (
        logs[n_tag]
        - logs[counts]
        - logs[n_tag - counts]
        + logs[n_all - n_tag]
        - logs[n_fired - counts]
        - logs[n_all - n_tag - n_fired + counts]
        - logs[n_all]
        + logs[n_fired]
        + logs[n_all - n_fired]
    )
    return float(min(1.0, np.exp(log_p).sum()))


def holm(p: Array) -> Array:
    """Correct p-values for their number, so that P(any false one) ≤ p (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * (len(p) - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


SHOWN = 16
MOST_BARS = 128  # of positions; of a longer text, neighbours share one


def tags_sheet(run: Run, _: Values) -> Sheet:
    """The tags beside the positions."""
    neuron = neuron_shown(run)

    def rows(index: NeuronIndex) -> list[Row]:
        pictures = on_which_tags(run, index, neuron), at_which_positions(run, index, neuron)
        return [row(*pictures, widths=(1.3, 1))]

    return sheet_of_index(run, rows)


def on_which_tags(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The tags least likely by chance."""
    block = index.by_number[run.state.block]
    fired = int(block.fired_texts[neuron])
    sentence = f"It fires in {number(f'{percent(fired / index.n_texts)} of {index.source}')}"
    shown: list[tuple[str, TagCount]] = []
    often = "more often than by chance with"
    starts = {1: f". Above zero it does so {often}", -1: "; below zero with"}
    for side in block.sides:
        counts = tag_counts(index, run.state.block, neuron, side)
        beyond = [count for count in counts if count.beyond_chance]
        sentence += starts[side] if index.both_sides else f", and {often}"
        sentence += f" {len(beyond)} of {counted(len(counts), 'tag')}"
        if beyond:
            first = wording.typed(f"“{beyond[0].tag}”")
            sentence += f", above all {first}" if beyond[1:] else f": {first}"
        sign = ("+ " if side > 0 else "− ") * index.both_sides
        shown += [(sign, count) for count in counts[: SHOWN // len(block.sides)]]
    figure = figures.tags(
        [f"{sign}{count.tag} ({count.n})" for sign, count in shown],
        np.array([count.share for _, count in shown]),
        np.array([count.share_elsewhere for _, count in shown]),
        [count.corrected for _, count in shown],
        LEVEL,
        run.card.colour,
    )
    alt = (
        "For each tag, the share of its sentences that activate the neuron, beside the share of "
        "the other sentences."
    )
    head = Head(f"{sentence}.", "tags", run.card.colour)
    return chart_cell(head, figure, alt, key="tags-of-neuron", height=665)


def at_which_positions(run: Run, index: NeuronIndex, neuron: int) -> Cell:
    """The share of tokens at each position that activate it."""
    fired = index.by_number[run.state.block].by_position[:, neuron]
    together = -(-len(fired) // MOST_BARS)
    starts = np.arange(0, len(fired), together)
    counts = np.add.reduceat(index.at_position, starts)
    shares = np.add.reduceat(fired.astype(np.int64), starts) / np.maximum(counts, 1)
    often = counts >= 20  # of fewer tokens a share says little
    shares, counts = shares[often], counts[often]
    share = number(percent(float(fired.sum() / index.n_tokens)))
    sentence = f"It fires on {share} of {index.n_tokens:,} tokens"
    if len(shares) and shares.max() > 0:
        most = int(shares.argmax())
        last = min((most + 1) * together, len(fired))
        at = f"positions {starts[most] + 1} to {last}" if together > 1 else f"position {most + 1}"
        sentence += f", most often at {at} ({percent(float(shares[most]))})"
    under = f"Each bar stands for {together} positions." if together > 1 else ""
    head = Head(f"{sentence}.", "positions", run.card.colour, under=under)
    figure = figures.positions(shares, counts, run.card.colour, together)
    alt = "The share of tokens at each position that activate the neuron."
    return chart_cell(head, figure, alt, key="positions-of-neuron", height=665)
