"""All neurons: how often each is active, in a table to sort and to search."""

import numpy as np

from ffnviz.analysis.needs import Capability, missing
from ffnviz.analysis.neurons.neuron_index import HIGH, NeuronIndex, Overview, overview, words_at
from ffnviz.analysis.sparsity import record_of
from ffnviz.parts.neuron_shown import neuron_shown, open_neuron
from ffnviz.parts.neurons.choose import dated, sheet_of_index
from ffnviz.parts.sheet import Row, Sheet, row
from ffnviz.pictures import neuron_chart as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import DRAWN, table_cell
from ffnviz.pictures.wording import number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, text_setting

ORDERS = {"often": "most often active", "rare": "least often active"}
ORDERS |= {"selective": "most selective", "number": "by number"}
ORDER = choice_setting("sort", ORDERS).with_control("Sort")
FIND = text_setting("find", longest=32).with_control("Find a word or a tag", example="sea")
SETTINGS = (ORDER, FIND)
P_HIGH = f"p{100 * HIGH:.0f}"
UNDER_TABLE = (
    "F1: how well “it fires” and “the text has this tag” agree, from 0 to 1. "
    f"{P_HIGH}: {100 * HIGH:.0f}% of its activations are at most this."
)


def sheet(run: Run, values: Values) -> Sheet:
    """How often the neurons fire, beside the table."""

    def rows(index: NeuronIndex) -> list[Row]:
        return [row(how_often(run, index), the_table(run, values, index), widths=(1, 1.35))]

    return sheet_of_index(run, rows, SETTINGS)


def how_often(run: Run, index: NeuronIndex) -> Cell:
    """The share of tokens on which each neuron fires, in order, for all blocks of the index."""
    chosen, neuron = run.state.block, neuron_shown(run)
    shares = {number: block.fired / index.n_tokens for number, block in index.by_number.items()}
    of_block = shares[chosen]
    never = int((of_block == 0).sum())
    text = f"{index.n_tokens:,} tokens of {index.source}{dated(run)}"
    neurons = f"{len(of_block):,} neurons"
    sentence = f"Each of block {chosen + 1}'s {number(neurons)} fires somewhere in {text}"
    if never:
        silent = f"{number(f'{never:,} of {neurons}')} of block {chosen + 1} never "
        sentence = f"{silent}fire{'s' * (never == 1)} on {text}"
    sentence += f"; a token activates {percent(float(of_block.mean()))} on average."
    on_books = ""
    if run.card.phi.exact_zeros and not missing(run.card, (Capability.RECORD,)):
        record = record_of(run.model)
        other = len(record.final_never[chosen])
        if other != never:  # more text leaves fewer neurons unreached
            books = f"{record.final_n_tokens:,} tokens of books"
            on_books = f"Other text gives a different number: on {books}, it is {other:,}. "
    under = (
        f"{on_books}Published: in some blocks of OPT-66B more than 70% never fire "
        "(Voita et al. 2023); 3.0% are active on a token in T5-Base (Li et al. 2022)."
    )
    accent = f"@{run.card.colour}"
    series = {
        f"block {number + 1}": (np.sort(values)[::-1], "@muted", 2.0)
        for number, values in shares.items()
        if number != chosen
    } | {f"block {chosen + 1}": (np.sort(of_block)[::-1], accent, 4.0)}
    return chart_cell(
        Head(sentence, "awake-ranks", run.card.colour, under=under),
        figures.ranked(series, int((of_block > of_block[neuron]).sum())),
        "How often each block's neurons fire, the most frequent first; the chosen one is marked.",
        height=560,
    )


def the_table(run: Run, values: Values, index: NeuronIndex) -> Cell:
    """The neurons; a click on a row opens one."""
    block = run.state.block
    rows: Overview = run.subject.per_network(
        f"overview of block {block}", lambda: overview(index, block, words_at(run.model))
    )
    shown = _chosen(rows, values[ORDER], values[FIND])
    columns = {
        "neuron": shown.tolist(),
        "strongest at": [rows.words[neuron] for neuron in shown],
        "% of tokens": _short(100 * rows.awake[shown]),
        "% of texts": _short(100 * rows.texts[shown]),
        "tag": [rows.tag[neuron] for neuron in shown],
        "F1": _short(rows.selective[shown]),
        "mean": _short(rows.counts.mean[shown]),
        P_HIGH: _short(rows.high[shown]),
        "max": _short(rows.counts.most[shown]),
        **({"min": _short(rows.counts.least[shown])} if index.both_sides else {}),
    }
    first = f", the first {DRAWN} in the table" if len(shown) > DRAWN else ""
    sentence = (
        f"{number(f'{len(shown):,} of {len(rows.awake):,} neurons')}{first}. Click a row for "
        "its neuron."
    )
    head = Head(sentence, "", run.card.colour, under=UNDER_TABLE)
    table = list(zip(*columns.values(), strict=True))
    return table_cell(
        "all-neurons", head, list(columns), table, lambda place: open_neuron(run, int(shown[place]))
    )


def _short(numbers: np.ndarray) -> list[float]:
    return [round(float(each), 2) for each in numbers]


def _chosen(rows: Overview, order: str, wanted: str) -> np.ndarray:
    """The neurons whose words or tags have a text in them, in that order."""
    shown = np.arange(len(rows.awake))
    if order == "often":
        shown = np.argsort(-rows.awake, kind="stable")
    if order == "rare":  # what never fires comes last: there is nothing to see
        shown = np.lexsort((rows.awake, rows.awake == 0))
    if order == "selective":
        shown = np.argsort(-rows.selective, kind="stable")
    text = wanted.strip().casefold()
    if not text:
        return shown
    found = [n for n in shown if text in rows.tag[n].casefold() or text in rows.words[n].casefold()]
    return np.array(found, dtype=int)
