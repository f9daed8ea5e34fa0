"""Of any sentence the live page makes the data that Python makes: every word and number shown."""

import base64
import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffnviz.analysis.journey import neuron_order
from ffnviz.export.journey import _kept, _leading, chips_of
from ffnviz.export.live.page import live_contents
from ffnviz.export.runs import exported_run
from ffnviz.models.encoder.model import Model, load
from ffnviz.parts.guess import words_to_hide
from ffnviz.parts.journey.ffn import ffn_of_the_token
from ffnviz.parts.journey.neurons import every_token_every_neuron
from ffnviz.parts.journey.prediction import what_it_says
from ffnviz.parts.sentences import of_left_out
from ffnviz.pictures.wording import percent, signed, to_spans
from ffnviz.state.run import Run
from ffnviz.state.state import tidied
from tests.export.live.javascript import Call, running
from tests.export.live.texts import LONG, all_kinds

MODULES = ("live_journey.js", "tokenizer.js", "encoder.js")
FUNCTIONS = Path(__file__).with_name("first_page.js")
CLOSE = 2e-3
NEURON = 1 / 2_048  # of all
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def joined(spans: list[list[str]]) -> list[list[str]]:
    """A sentence in which stretches of one kind that stand side by side are one."""
    kinds = groupby(spans, key=itemgetter(1))
    return [["".join(text for text, _ in stretches), kind] for kind, stretches in kinds]


class Shown:
    """Numbers that are shown, and how many of them differ in their last digit by one.

    Two machines, or two orders of addition, round a number that is half way differently, and a
    neuron at the very threshold is active in one of them.
    """

    def __init__(self) -> None:
        self.n = self.differ = 0

    def check(self, found: Any, wanted: Any, place: str = "") -> None:
        """The same words, and the same numbers as far as they are shown."""
        if isinstance(wanted, dict):
            assert found.keys() == wanted.keys(), place
            for name in wanted:
                one, other = found[name], wanted[name]
                if name in ("spans", "under"):
                    one, other = joined(one), joined(other)
                self.check(one, other, f"{place}.{name}")
        elif isinstance(wanted, list | tuple):
            assert len(found) == len(wanted), place
            for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
                self.check(one, other, f"{place}.{at}")
        elif isinstance(wanted, float) and ".shares." in place:
            self.n += 1
            self.differ += found != wanted
            assert abs(found - wanted) < 1.01 * NEURON, place
        elif isinstance(wanted, float):
            assert found == pytest.approx(wanted, rel=CLOSE, abs=1e-9), place
        elif isinstance(wanted, str):
            self.text(found, wanted, place)
        else:
            assert found == wanted, place

    def text(self, found: str, wanted: str, place: str) -> None:
        assert NUMBER.sub("#", found) == NUMBER.sub("#", wanted), place
        for one, other in zip(NUMBER.findall(found), NUMBER.findall(wanted), strict=True):
            self.n += 1
            if one == other:
                continue
            self.differ += 1
            digits = len(other.partition(".")[2])
            gap = abs(float(one.replace(",", "")) - float(other.replace(",", "")))
            assert gap < 1.01 * 10**-digits, (place, found, wanted)


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [load("relu"), load("gelu")]


@pytest.fixture(scope="module")
def call(models: list[Model]) -> Iterator[Call]:
    contents, packed = live_contents(models, "She opened the [MASK] and looked out.")
    with running(MODULES, FUNCTIONS.read_text("utf-8")) as call:
        for network in packed:
            weights = base64.b64encode(network.weights).decode()
            call("network", {"index": network.index, "weights": weights})
        call("start", {"recorded": dict(contents.header),
                       "tokenizer": contents.header["tokenizer"]})  # fmt: skip
        yield call


def chosen_run(models: list[Model], text: str, network: str, block: int, token: int | None) -> Run:
    run = exported_run(models, text)
    subject = run.traced_model(network)
    partner = next(each for each in run.both if each is not subject)
    state = replace(run.state, network=network, block=block, token=token)
    return replace(run, subject=subject, partner=partner, state=state)


def as_json(value: Any) -> Any:
    """As it is once it was sent."""
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value


def check(call: Call, models: list[Model], text: str, at: int, shown: Shown) -> None:
    """One sentence with one of the networks and blocks, at the usual token or at another."""
    network, block = ("relu", "gelu")[at % 2], at // 2 % 2
    n_tokens = len(models[0].trace(text).tokens)
    token = None if at % 3 else at % n_tokens
    run = chosen_run(models, text, network, block, token)
    name, chosen = f"{network} {block}", run.token
    wanted_arrays = [f"{name} {stage}" for stage in ("x", "pre", "out", "stream", "total")]
    wanted_arrays += [f"{name} {kind}" for kind in ("hidden", "by token", "by strength")]
    state = {"sentence": text, "network": network, "block": block, "token": token,
             "silenced": []}  # fmt: skip
    data = call("read", {"state": state, "wanted": wanted_arrays})
    assert (data["name"], data["token"]) == (name, chosen)
    view = data["view"]
    ffn = ffn_of_the_token(run)
    words, maps = what_it_says(run), every_token_every_neuron(run)
    chips, hides = _kept(chips_of(run)), words_to_hide(run)
    chips["hides"] = [word.text if word else "" for word in hides]
    shown.check(view["chips"], as_json(chips), "chips")
    assert data["words"] == [word and vars(word) for word in hides]
    shown.check(view["maps"], as_json(_kept(maps)), "maps")
    shown.check(view["ffn"][chosen], as_json(_kept(ffn)), "ffn")
    shown.check(view["prediction"][chosen], as_json(_kept(words)), "prediction")
    off = ffn_of_the_token(run, is_off=True), what_it_says(run, is_off=True)
    for kind, cell in zip(("ffn_off", "prediction_off"), off, strict=True):
        shown.check(view[kind][chosen], as_json(_kept(cell)), kind)
    for kind, is_off in (("leading", False), ("leading_off", True)):
        shown.check(view[kind][chosen], as_json(_leading(run, is_off)), kind)
    assert [each for each in view["ffn"] if each] == [view["ffn"][chosen]]
    assert data["texts"] == run.labels
    assert view["tokens"] == {each.card.id: list(run.tokens_of(each)) for each in run.both}
    for stage in ("x", "pre", "out", "stream", "total"):
        row = np.reshape(data["arrays"][f"{name} {stage}"], (n_tokens, -1))[chosen]
        right = ffn.arrays[stage].astype(np.float64)
        assert np.abs(row - right).max() <= CLOSE * np.abs(right).max(), stage
    check_orders(data["arrays"], run, name)


def check_orders(arrays: dict[str, list[float]], run: Run, name: str) -> None:
    """Its own values stand in the order that Python puts them in."""
    hidden = np.array(arrays[f"{name} hidden"], dtype=np.float32).reshape(len(run.labels), -1)
    right = run.trace.blocks[run.state.block].ffn.hidden.numpy()
    assert np.abs(hidden - right).max() <= CLOSE * np.abs(right).max()
    for by in ("token", "strength"):
        assert arrays[f"{name} by {by}"] == neuron_order(hidden, by).tolist()


def is_known(text: str) -> bool:
    """Whether this Python has heard of all its characters: a browser may have of newer ones."""
    return "Cn" not in map(unicodedata.category, text)


def test_sentences_are_shown_as_python_shows_them(call: Call, models: list[Model]) -> None:
    shown = Shown()
    texts = [text for text in map(tidied, all_kinds()[::2]) if text and is_known(text)]
    assert len(texts) > 50
    for at, text in enumerate(texts):
        check(call, models, text, at, shown)
    assert shown.n > 3_000
    assert shown.differ <= shown.n / 1_000, f"{shown.differ} of {shown.n}"


def test_a_text_is_tidied_and_cut_as_on_the_server(call: Call, models: list[Model]) -> None:
    trace = models[0].trace(LONG)
    state = {"sentence": LONG, "network": "relu", "block": 1, "token": None, "silenced": []}
    data = call("read", {"state": state, "wanted": []})
    assert len(data["texts"]) == len(trace.tokens) == 128
    assert data["notice"] == to_spans(of_left_out(128, trace.n_left_out))
    texts = [*all_kinds(), "A ____ sat.", " \t\n ", "_ __ ___ ____"]
    assert call("tidied", texts) == [tidied(text) for text in texts]


def test_numbers_and_checksums_are_those_of_python(call: Call) -> None:
    values = [n / 2048 for n in range(2049)] + [0.05, 0.15, 0.25, 0.35, 2.5, 3.5, 0.0004, -0.125]
    for value, written in zip(values, call("written", values), strict=True):
        texts = [f"{value:.0f}", f"{value:.1f}", f"{value:.2f}"]
        assert written[:3] == texts
        if value > 0:
            assert written[3] == percent(value)
        assert written[4] == signed(value)
    content = bytearray(range(256)) * 8
    assert call("sum", base64.b64encode(content).decode()) == zlib.crc32(content)
    before = zlib.crc32(content)
    content[1_000] ^= 1
    assert call("sum", base64.b64encode(content).decode()) == zlib.crc32(content) != before
