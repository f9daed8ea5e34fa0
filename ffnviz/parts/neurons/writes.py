"""What a neuron writes: the words it promotes and suppresses, and the neurons most like it."""

from ffnviz.analysis.neurons.memory import (
    RankedWords,
    Similar,
    similar,
    value_norms,
    written_words,
)
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import neuron_controls
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.wording import Sentence, neuron_name, number, percent
from ffnviz.state.actions import ChooseNeuron
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

WORDS = 14
NEURONS = 10
LARGEST = 0.9995  # a share that percent would round to all


def sheet(run: Run, _: Values) -> Sheet:
    """The neuron's words, beside the neurons most like it."""
    neuron = neuron_shown(run)
    return Sheet([row(its_words(run, neuron), most_like_it(run, neuron))], neuron_controls(run))


def its_words(run: Run, neuron: int) -> Cell:
    """The words whose logits its value raises and lowers most."""
    promoted, suppressed = written_words(run.model, run.state.block, neuron, WORDS)
    norm, larger_than = value_norms(run.model, run.state.block, neuron)
    sentence: Sentence = [
        "When active, it makes ", number(promoted.words[0]),
        f" likelier and {suppressed.words[0]} less likely; the norm of its value vector is "
        f"{norm:.2f}, ", "the largest of the block's." if larger_than >= LARGEST else
        f"larger than {percent(larger_than)} of the block's.",
    ]  # fmt: skip
    return bars_cell(
        Head(sentence, "writes", run.card.colour),
        word_panels(run, promoted, suppressed),
        key="written-words",
        alt="The words whose logits the neuron raises most, and those it lowers most.",
        of="added to the logit by a unit of activation",
    )


def word_panels(run: Run, promoted: RankedWords, suppressed: RankedWords) -> list[Bars]:
    """The words that a vector promotes, beside those it suppresses."""
    return [
        Bars("promoted", promoted.words, promoted.scores, run.card.colour),
        Bars("suppressed", suppressed.words, suppressed.scores, "muted"),
    ]


def most_like_it(run: Run, neuron: int) -> Cell:
    """The neurons with the most similar keys and values; a click opens one."""
    block = run.state.block
    by_key, by_value = similar(run.model, block, neuron, NEURONS)
    sentence: Sentence = [
        "The most similar key is that of neuron ", number(neuron_name(block, by_key.neurons[0])),
        f" (cosine {by_key.cosines[0]:.2f}), the most similar value vector that of neuron "
        f"{neuron_name(block, by_value.neurons[0])} ({by_value.cosines[0]:.2f}).",
    ]  # fmt: skip

    def bars(title: str, alike: Similar, colour: str) -> Bars:
        names = [neuron_name(block, n) for n in alike.neurons]
        return Bars(title, names, alike.cosines, colour, alike.neurons)

    return bars_cell(
        Head(sentence, "similar", run.card.colour),
        [bars("by key", by_key, "muted"), bars("by value vector", by_value, run.card.colour)],
        key="similar-neurons",
        alt="The neurons of this block whose keys and values are most like this one's.",
        of="cosine; click a bar to open that neuron",
        on_choose=lambda other: ChooseNeuron(run.neuron(other)),
    )
