"""The Journey of one sentence, for every token, block and network, as data for play_journey.js.

The pictures' data are those that the page sends; the vectors are taken out of them and kept once.
So the numbers in a file are those of the page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.journey import ORDERS, neuron_order
from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.needs import missing
from ffnviz.analysis.neurons.memory import WRITES_NEEDS, written_ids
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.export.bundle import texts
from ffnviz.export.document import LARGEST, Contents, TooLargeError, document
from ffnviz.export.runs import exported_run
from ffnviz.parts import sentences
from ffnviz.parts.journey.ffn import ffn_of_the_token
from ffnviz.parts.journey.neurons import RANKED, WORDS, chosen_neuron, every_token_every_neuron
from ffnviz.parts.journey.prediction import what_it_says
from ffnviz.parts.neuron_shown import leading_neuron
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.payload import as_numbers, as_order
from ffnviz.pictures.tokens import Chips
from ffnviz.pictures.wording import to_spans
from ffnviz.state.run import Run, TracedModel, token_labels
from ffnviz.state.state import Neuron

PICTURES = ("chips", "ffn_picture", "bars", "activation_map", "neuron_card")
NOTES = ("tokens", "ffn", "gated", "prediction", "nearest", "maps", "any-maps", "neuron")
MOST_WORK = 5e10  # products for what neurons write: some seconds on two cores
STRONGEST = 24  # neurons of each token whose words are looked up where all would be too many
SLOT = "\ue000"  # stands in a template where the browser puts a token

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class JourneyData:
    """What play_journey.js reads."""

    header: dict[str, Any]  # JSON values
    arrays: Arrays  # by "network block name": vectors of every token, (T, width), and orders


def journey_of(
    run: Run,
    progress: Progress = lambda _: None,
    most_work: float = MOST_WORK,
    with_off: bool = False,  # whether a block's FFN can be switched off
) -> JourneyData:
    """All that can be chosen on the Journey of a run's sentence.

    Where the words of all neurons take more than `most_work` products, the file has those of the
    strongest alone.
    """
    arrays: Arrays = {}
    words: dict[int, int] = {}  # a vocabulary's row → its place among the words of the file
    views, cards = {}, {}
    blocks = [(each, n) for each in run.both for n in range(each.network.sizes.n_blocks)]
    for place, (traced, block) in enumerate(blocks):
        partner = next((other for other in run.both if other is not traced), None)
        state = replace(
            run.state, network=traced.card.id, block=block, neuron=None, order=ORDERS[0]
        )
        chosen = replace(run, subject=traced, partner=partner, state=state)
        name = f"{traced.card.id} {block}"
        of_block = subprogress(progress, place, len(blocks))
        views[name] = _view(chosen, name, arrays, of_block, with_off)
        first = [each["neuron"] for each in views[name]["leading"] if each]
        cards[name] = _card(chosen, name, arrays, words, most_work, first)
    header = {
        "networks": [
            {
                "id": traced.card.id,
                "label": traced.card.label,
                "n_blocks": traced.network.sizes.n_blocks,
            }
            for traced in run.both
        ],
        "start": start_of(run),
        "orders": ORDERS,
        "views": views,
        "cards": cards,
        "words": [traced.network.tokenizer.label(row) for row in words],
    }
    return JourneyData(header, arrays)


def start_of(run: Run) -> dict[str, Any]:
    """What the Journey shows first."""
    state, chosen = run.state, run.state.neuron
    return {
        "network": run.card.id,
        "block": state.block,
        "token": run.token,
        "order": state.order,
        "neuron": chosen and {"network": chosen.network, "index": chosen.index},
    }


def _kept(cell: Cell) -> dict[str, Any]:
    """The data of a picture, without what the browser sets itself."""
    return {k: v for k, v in cell.data.items() if k not in ("neuron", "order", "off")}


def _view(
    run: Run, name: str, arrays: Arrays, progress: Progress, with_off: bool
) -> dict[str, Any]:
    """The pictures of one block of one network: those of all tokens, and those of each."""
    traced, block = run.subject, run.state.block
    hidden = _hidden(traced, block)
    stages: dict[str, list[NDArray[Any]]] = {}
    switches = {"": False, "_off": True} if with_off else {"": False}
    kinds = [kind + end for end in switches for kind in ("ffn", "prediction", "leading")]
    of_tokens: dict[str, list[Any]] = {kind: [] for kind in kinds}
    n_tokens = len(traced.trace.tokens)
    for token in range(n_tokens):
        progress(token / n_tokens)
        chosen = replace(run, state=replace(run.state, token=token))
        for end, is_off in switches.items():
            ffn, words = ffn_of_the_token(chosen, is_off), what_it_says(chosen, is_off)
            of_tokens[f"ffn{end}"].append(_kept(ffn))
            of_tokens[f"prediction{end}"].append(_kept(words) if words.picture == "bars" else None)
            of_tokens[f"leading{end}"].append(_leading(chosen, is_off))
            if not is_off:
                for stage, values in ffn.arrays.items():
                    stages.setdefault(stage, []).append(values)
    for stage, rows in stages.items():
        if stage not in ("order", "hidden"):
            arrays[f"{name} {stage}"] = np.stack(rows)
    arrays[f"{name} hidden"] = hidden
    if "pre" not in stages:  # what the neurons of a gated FFN are sorted by
        pre_activation = traced.trace.blocks[block].ffn.pre_activation.float().cpu().numpy()
        arrays[f"{name} pre"] = pre_activation.astype(np.float16)
    for order in ORDERS[:-1]:  # the last is that of the weights
        arrays[f"{name} by {order}"] = as_order(neuron_order(hidden, order))
    return {
        "chips": _kept(chips_of(run)),
        "maps": _kept(every_token_every_neuron(run)),
        **of_tokens,
        "blocks": {each.card.id: run.block_of(each) for each in run.both},
        "tokens": {each.card.id: list(run.tokens_of(each)) for each in run.both},
    }


def _leading(run: Run, is_off: bool = False) -> dict[str, Any] | None:
    """The neuron that adds most to the word at a token, and the sentence about it."""
    leading = leading_neuron(run)
    if leading is None:
        return None
    sentence = sentences.of_leading(leading.word, leading.added, run.state.block, is_off)
    return {"neuron": leading.neuron, "spans": to_spans(sentence)}


def _hidden(traced: TracedModel, block: int) -> NDArray[np.float32]:
    """(T, d_ff), in full precision: the neuron's card reads it."""
    hidden: NDArray[np.float32] = traced.trace.blocks[block].ffn.hidden.float().cpu().numpy()
    return hidden


def chips_of(run: Run, on_choose: Callable[[int], Any] = lambda _: None) -> Cell:
    """The tokens as the page shows them; no word can be hidden where nothing is computed."""
    block = run.state.block
    counted = awake(run.trace, block, threshold_for(run.card.phi))
    said = sentences.of_tokens(run.labels, counted.shares, block)
    return Chips(
        head=Head(said, "tokens", run.card.colour),
        accent=run.card.colour,
        texts=run.labels,
        shares=[float(share) for share in counted.shares],
        chosen=run.token,
        what=f"of {counted.d_ff:,} neurons {sentences.awake_means(counted.threshold)}",
        on_choose=on_choose,
        hides=[""] * len(run.labels),
        on_hide=lambda _: None,
        joins=run.joins,
    ).to_cell("chips")


def _card(
    run: Run, name: str, arrays: Arrays, words: dict[int, int], most_work: float, first: list[int]
) -> dict[str, Any]:
    """The parts of the card that all neurons of a block share, and the words of each.

    If they take more than `most_work` products, only some neurons' words are there, and in any case
    those of `first`.
    """
    traced, block = run.subject, run.state.block
    threshold = threshold_for(traced.card.phi)

    def template(value: float) -> list[list[str]]:
        """The sentence about a neuron with such a value, with slots for the token and the value."""
        return to_spans(sentences.of_neuron([SLOT], np.array([value]), threshold, block))

    neuron_0 = replace(run.state, neuron=Neuron(traced.card.id, block, 0))
    card = _kept(chosen_neuron(replace(run, state=neuron_0)))
    if not missing(traced.card, WRITES_NEEDS):
        neurons = np.union1d(_looked_up(traced, block, most_work), first)
        ids = written_ids(traced.network, block, neurons, RANKED)
        rows, inverse = np.unique(ids, return_inverse=True)
        labels = [traced.network.tokenizer.label(int(row)) for row in rows]
        pieces = np.array([not label.isalpha() for label in labels])[inverse].reshape(ids.shape)
        order = np.argsort(pieces, axis=1, kind="stable")[:, :WORDS]  # whole words first
        rows, inverse = np.unique(np.take_along_axis(ids, order, 1), return_inverse=True)
        places = np.array([words.setdefault(int(row), len(words)) for row in rows])
        arrays[f"{name} writes"] = as_numbers(places[inverse].reshape(order.shape), len(words))
        arrays[f"{name} writers"] = as_numbers(neurons, traced.network.sizes.d_ff)
    return {
        "title": card["title"],
        "texts": token_labels(traced.trace.tokens),
        "head": card["head"],
        "threshold": threshold,
        "awake": template(1e9),
        "asleep": template(0.0),
    }


def _looked_up(traced: TracedModel, block: int, most_work: float) -> NDArray[np.int64]:
    """The neurons whose words are in the file: all, or the strongest where that takes too long."""
    sizes = traced.network.sizes
    if sizes.n_blocks * sizes.d_ff * sizes.d_model * sizes.vocab_size <= most_work:
        return np.arange(sizes.d_ff)
    strongest = np.argsort(-np.abs(_hidden(traced, block)), axis=1, kind="stable")[:, :STRONGEST]
    return np.unique(strongest)


CLICKS = "Click a token, a neuron, a network or a block."
LEAST_BYTES = 350_000  # script, font and notes
LEAST_LEFT = 0.6  # of the vectors' bytes, once packed and encoded; of the twins' it is 0.79


@dataclass(frozen=True)
class ExportedJourney:
    """The Journey as a file."""

    html: str = field(repr=False)  # its text
    n_tokens: int  # how many tokens are in it
    n_left_out: int  # how many more the sentence has, which had no room
    notice: str  # that the sentence was cut; empty if it was not


def journey_file(
    run: Run, progress: Progress = lambda _: None, largest: int = LARGEST
) -> ExportedJourney:
    """The Journey of a run's sentence; of a sentence too long for a file, its beginning.

    `largest` are the bytes that the file may have. Raises TooLargeError if not even one token fits.
    """
    whole, n_all = run, len(run.trace.tokens) + run.trace.n_left_out
    most = _most(run, largest)
    if most < len(run.trace.tokens):
        run = _beginning(whole, most)
    tried: list[tuple[int, int]] = []  # tokens and bytes
    while True:
        made = _made_of(run, n_all, largest, progress)
        size = len(made.html.encode())
        if size <= largest:
            return made
        tried.append((made.n_tokens, size))
        fits = _fitting(tried, largest)
        if fits < 1 or not run.trace.tokens[fits - 1].end:  # the first may be a mere space
            raise TooLargeError(
                f"One token of this network takes more room than a file of {largest / 1e6:g} MB "
                "has: it has too many blocks, or too many neurons. Take a smaller network."
            )
        run = _beginning(whole, fits)


def _most(run: Run, largest: int) -> int:
    """A number of tokens of which more never fit, so that none of thousands is computed in vain."""
    token_bytes = sum(
        traced.network.sizes.n_blocks
        * (6 * traced.network.sizes.d_ff + 8 * traced.network.sizes.d_model)
        for traced in run.both
    )
    return max(1, int((largest - LEAST_BYTES) / (token_bytes * LEAST_LEFT)))


def _fitting(tried: Sequence[tuple[int, int]], largest: int) -> int:
    """How many tokens should fit, if each takes as many bytes."""
    n, size = tried[-1]
    if len(tried) == 1:
        return min(n - 1, n * largest // size)
    before, larger = tried[-2]
    token_bytes = (larger - size) / (before - n)
    return min(n - 1, int(n - (size - largest) / token_bytes))


def _beginning(run: Run, n_tokens: int) -> Run:
    """The run of the first tokens alone."""
    networks = [traced.network for traced in (run.subject, run.partner) if traced is not None]
    return exported_run(networks, run.trace.text[: run.trace.tokens[n_tokens - 1].end])


def _made_of(run: Run, n_all: int, largest: int, progress: Progress) -> ExportedJourney:
    """The file of a run, of whatever size; the whole sentence has `n_all` tokens."""
    n, notice = len(run.trace.tokens), ""
    if n < n_all:
        notice = (
            f"The text has {n_all:,} tokens, and a file of {largest / 1e6:g} MB has room for "
            f"{n:,}. The network read only these; the last {n_all - n:,} are left out. Shorten "
            "the text to choose what is in the file."
        )
    journey = journey_of(run, progress)
    sentence = run.trace.text[: run.trace.tokens[-1].end]
    header = {
        **journey.header,
        "plays": "journey",
        "files": texts(PICTURES, NOTES),
        "sentence": sentence,
        "says": list(filter(None, [notice, made_by([traced.card.label for traced in run.both])])),
    }
    scripts = ("play_journey", *PICTURES)
    html = document(Contents(f"{sentence} · ffnviz", scripts, header, journey.arrays))
    return ExportedJourney(html, n, n_all - n, notice)


def made_by(labels: Sequence[str], how: str = CLICKS) -> str:
    """Which networks computed a file, when, and what can be done with it."""
    today = date.today()
    networks = " and ".join(labels) + (" networks" if len(labels) > 1 else " network")
    return (
        f"Computed by the {networks} on {today.day} {today:%B %Y}, and saved by ffnviz "
        f"{version('ffnviz')}. {how} This file works without a server and sends nothing; another "
        "sentence needs ffnviz itself."
    )
