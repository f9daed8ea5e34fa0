"""The first page for any sentence, as one HTML file: the networks go along, and compute in it.

It begins with a sentence that was computed here, so that something is there at once, and from which
whatever is the same for every sentence is taken. What a new one changes, live_journey.js computes.

What is said and shown of each is the Neurons page's own cell; a live page has the first rows of it.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.sparsity import threshold_for
from ffnviz.export.bundle import LIVE, script, texts
from ffnviz.export.document import Contents, document
from ffnviz.export.journey import NOTES, PICTURES, Arrays, JourneyData, journey_of
from ffnviz.export.live import packing
from ffnviz.export.runs import exported_run
from ffnviz.models.encoder.model import TWINS, Model
from ffnviz.models.network import Network
from ffnviz.parts import sentences
from ffnviz.parts.guess import of_bytes, what_it_read
from ffnviz.parts.neurons.activations import strongest_examples
from ffnviz.parts.neurons.choose import index_with_notes, tokens_read
from ffnviz.pictures.payload import as_numbers
from ffnviz.pictures.wording import Sentence, to_spans
from ffnviz.state.run import Run, TracedModel

ROWS = 6  # sentences of a neuron; the server's page has up to twelve


def examples_of(run: Run) -> JourneyData | None:
    """The examples of all blocks of a run's networks; None if one of them has no index.

    The header has "heads", and "passages": before, at and after the marked token. The arrays, by
    "network block", have a row a neuron: "examples", places among the passages from 1 and 0 for
    none; "example values", in hundredths; "example heads", (d_ff, 1).
    """
    heads: dict[str, tuple[int, Any]] = {}
    passages: dict[tuple[str, ...], int] = {}
    arrays: Arrays = {}
    for traced in run.both:
        sizes = traced.network.sizes
        tokens_of = cache(partial(tokens_read, replace(run, subject=traced)))
        for block in range(sizes.n_blocks):
            state = replace(run.state, network=traced.card.id, block=block, neuron=None)
            chosen = replace(run, subject=traced, state=state)
            index = index_with_notes(chosen).index
            if index is None:
                return None
            places = np.zeros((sizes.d_ff, ROWS), np.int64)
            values = np.zeros((sizes.d_ff, ROWS), np.int64)
            said = np.zeros((sizes.d_ff, 1), np.int64)
            for neuron in range(sizes.d_ff):
                shown = strongest_examples(chosen, index, neuron, tokens_of)[0].data
                said[neuron], _ = heads.setdefault(str(shown["head"]), (len(heads), shown["head"]))
                for at, (value, *text) in enumerate(shown["rows"][:ROWS]):
                    places[neuron, at] = passages.setdefault(tuple(text), len(passages) + 1)
                    values[neuron, at] = int(value.replace(".", ""))
            name = f"{traced.card.id} {block}"
            arrays[f"{name} examples"] = places
            arrays[f"{name} example values"] = as_numbers(values, int(values.max()) + 1)
            arrays[f"{name} example heads"] = as_numbers(said, len(heads))
    for name, places in arrays.items():
        if name.endswith(" examples"):
            arrays[name] = as_numbers(places, len(passages) + 1)
    header = {"heads": [head for _, head in heads.values()], "passages": list(passages)}
    return JourneyData(header, arrays)


Spans = list[list[str]]
N_MANY = 1_000  # stands for any number of more than one
WORKER, SERVICE_WORKER, INDEX = "worker.js", "service_worker.js", "index.html"


class OtherPageError(ValueError):
    """A folder has a page that is none of ours; the message says which."""


def live_page(networks: Sequence[Network], text: str, progress: Progress = lambda _: None) -> str:
    """The page as one file's text; see `live_contents`."""
    contents, packed = live_contents(networks, text, progress)
    return document(replace(contents, later=weight_texts(packed)))


def weight_texts(packed: Sequence[packing.PackedNetwork]) -> dict[str, str]:
    """The networks' weights as base64 texts, by the names under which a page's script looks."""
    return {f"weights-{n.index['name']}": base64.b64encode(n.weights).decode() for n in packed}


def live_folder(
    networks: Sequence[Network], text: str, progress: Progress = lambda _: None
) -> dict[str, bytes]:
    """The page as files by their names, for a web server: the weights come after the pictures.

    A file of weights has their checksum in its name, so that none is ever taken for another.
    """
    contents, packed = live_contents(networks, text, progress)
    named = {f"{n.index['name']}-{n.index['crc32']:08x}.bin": n for n in packed}
    kept = " ".join(named)
    header = {
        **contents.header,
        "packed": [{**network.index, "file": name} for name, network in named.items()],
        "kept": kept,
        "says": [_made_by(packed, "page")],
    }
    worker = (LIVE / SERVICE_WORKER).read_text("utf-8").replace("{kept}", kept)
    page = document(replace(contents, header=header, served=True))
    weights = {name: network.weights for name, network in named.items()}
    return {**weights, SERVICE_WORKER: worker.encode(), INDEX: page.encode()}


def check_folder(folder: Path) -> None:
    """Check that no other page would be lost; raises OtherPageError if one would be."""
    index = folder / INDEX
    if index.is_file() and b'id="worker"' not in index.read_bytes():
        raise OtherPageError(
            f"{index} is another page: choose a new folder, or one with a live page."
        )


def live_contents(
    networks: Sequence[Network], text: str, progress: Progress = lambda _: None
) -> tuple[Contents, list[packing.PackedNetwork]]:
    """What is in the page, but for the networks, and these.

    The first network drives the page; a second one stands beside it. Raises NotForALivePageError
    for a network that the page could not compute.
    """
    models = [_own(network) for network in networks]
    packed = [packing.packed_network(model) for model in models]
    tokenizer = packing.tokenizer_index(models[0].tokenizer)
    if any(packing.tokenizer_index(model.tokenizer) != tokenizer for model in models[1:]):
        raise packing.NotForALivePageError(
            "A live page has one tokenizer, and these networks have two."
        )
    run = exported_run(networks, text)
    journey = journey_of(run, progress, with_off=True)
    examples = examples_of(run)
    pictures = (*PICTURES, *(["passages"] if examples else []))
    header = {
        **journey.header,
        "plays": "live",
        "files": texts(pictures, (*NOTES, "examples")),
        "sentence": run.trace.text,
        "says": [_made_by(packed, "file")],
        "start": {**journey.header["start"], "off": False, "silenced": []},
        "silenced": [],
        "live": templates_of(run),
        "examples": examples and examples.header,
        "tokenizer": tokenizer,
        "packed": [network.index for network in packed],
    }
    arrays = {**journey.arrays, **(examples.arrays if examples else {})}
    scripts, worker = ("play_live", *pictures), script((), WORKER)
    return Contents(f"{text} · ffnviz", scripts, header, arrays, worker=worker), packed


def _own(network: Network) -> Model:
    if not isinstance(network, Model):
        raise packing.NotForALivePageError(
            f"A live page cannot compute {network.card.label!r}: it computes only our own "
            "encoders. Without --live a sentence can be saved with any network."
        )
    return network


def _made_by(packed: Sequence[packing.PackedNetwork], where: str) -> str:
    labels = " and ".join(network.index["label"] for network in packed)
    networks = f"{labels} networks are" if packed[1:] else f"{labels} network is"
    today = date.today()
    return (
        f"The {networks} in this {where}. Whatever you type is computed in your browser, without a "
        f"server, and nothing is sent. Saved by ffnviz {version('ffnviz')} on {today.day} "
        f"{today:%B %Y}."
    )


def _slot(name: str) -> str:
    return f"\ue000{name}\ue001"


def with_slots(sentence: Sentence, numbers: Mapping[str, str]) -> Spans:
    """A sentence's spans with a slot in place of each number; ValueError if one is not in it."""
    spans = to_spans(sentence)
    for number, name in numbers.items():
        if not any(number in text for text, _ in spans):
            raise ValueError(f"{number!r} is not in {spans}: the sentence was changed.")
        spans = [[text.replace(number, _slot(name)), kind] for text, kind in spans]
    return spans


def templates_of(run: Run) -> dict[str, Any]:
    """What live_journey.js fills, as JSON values: by "network block", and of each network."""
    views = {}
    for traced in run.both:
        for block in range(traced.network.sizes.n_blocks):
            state = replace(run.state, network=traced.card.id, block=block)
            views[f"{traced.card.id} {block}"] = _of_block(replace(run, state=state))
    most = run.model.sizes.max_tokens
    return {
        "views": views,
        "under": {traced.card.id: _under_guess(traced) for traced in run.both},
        "thresholds": {traced.card.id: threshold_for(traced.card.phi) for traced in run.both},
        "left_out": with_slots(sentences.of_left_out(most, N_MANY), {f"{N_MANY:,}": "left_out"}),
        "max_tokens": most,
    }


def _of_block(run: Run) -> dict[str, Any]:
    block = run.state.block
    labels = [_slot("most_label"), _slot("least_label")]
    guesses = (_slot("best"), 0.11), (_slot("other"), 0.22)
    shares = {"11%": "best_share", "22%": "other_share"}

    def said(asked: str, is_off: bool = False) -> Spans:
        sentence = sentences.of_prediction(_slot("label"), *guesses, block, asked, is_off)
        return with_slots(sentence, dict(list(shares.items())[: 1 + (asked != sentences.SHOWN)]))

    def leading(is_off: bool) -> Spans:
        sentence = sentences.of_leading(_slot("word"), 1.25, block, is_off)
        return with_slots(sentence, {"+1.25": "added"})

    cards = [traced.card for traced in run.both]
    maps = [
        (card.label, 1 - (0.11 + 0.22 * place), threshold_for(card.phi), card.colour)
        for place, card in enumerate(cards)
    ]
    inactive = {f"{11 + 22 * place}%": f"inactive_{place}" for place in range(len(maps))}
    unlike = sentences.of_tokens(labels, np.array([0.22, 0.11]), block)
    alike = sentences.of_tokens(labels, np.array([0.22, 0.22]), block)
    return {
        "tokens": with_slots(unlike, {"22%": "most", "11%": "least"}),
        "tokens_alike": with_slots(alike, {"22%": "most"}),
        "maps": with_slots(sentences.of_maps(maps), inactive),
        "hidden": said(sentences.HIDDEN),
        "shown": said(sentences.SHOWN),
        "off": said(sentences.HIDDEN, is_off=True),
        "leading": leading(is_off=False),
        "leading_off": leading(is_off=True),
    }


def _under_guess(traced: TracedModel) -> dict[str, Spans]:
    english = traced.card.id in TWINS
    several: Sequence[str] = [_slot("character"), *["x"] * N_MANY]
    return {
        "read": to_spans(what_it_read(traced)),
        "bytes": to_spans(of_bytes(several[:1], english)),
        "bytes_of_several": with_slots(of_bytes(several, english), {f"{N_MANY:,}": "more"}),
    }
