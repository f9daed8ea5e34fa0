"""How the next word is chosen: the settings that two parts share, and the words a cut leaves."""

from dataclasses import replace
from typing import Any

from ffnviz.analysis.vocabulary.decoding import Distribution, Strategy
from ffnviz.pictures.bars import Bars
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting, number_setting

ALL = 1_000_000  # of any vocabulary
BARS = 10
TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0)
TOP_KS = (1, 2, 3, 5, 10, 20, 40, 80, 160, 500, 1000, ALL)
TOP_PS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
TEMPERATURE = number_setting("temperature", 1, TEMPERATURES[0], TEMPERATURES[-1]).with_control(
    "temperature", TEMPERATURES, lambda stop: f"{stop:g}"
)
TOP_K = count_setting("top_k", ALL, 1, ALL).with_control(
    "top-k: keep the k likeliest", TOP_KS, lambda stop: "all" if stop == ALL else str(stop)
)
TOP_P = number_setting("top_p", 1, TOP_PS[0], 1).with_control(
    "top-p: keep until p is reached", TOP_PS, lambda stop: "all" if stop == 1 else f"{stop:g}"
)
PICK = choice_setting("pick", {"likeliest": "likeliest", "chance": "by chance"}).with_control(
    "Pick"
)
SEED = count_setting("seed", 1, 0, 999_999).with_control("Seed")
CUTS: tuple[Setting[Any], ...] = (TEMPERATURE, TOP_K, TOP_P, PICK, SEED)


def strategy(values: Values) -> Strategy:
    """The strategy that is set."""
    by_chance = values[PICK] == "chance"
    return Strategy(values[TEMPERATURE], values[TOP_K], values[TOP_P], by_chance, values[SEED])


def controls(values: Values) -> list[Setting[Any]]:
    """The controls in use; a slider also stops at a value that came with a link."""
    by_chance = values[PICK] == "chance"
    return [
        replace(each, stops=sorted({*each.stops, values[each]})) if each.stops else each
        for each in CUTS
        if each is not SEED or by_chance
    ]


def bars_of(run: Run, title: str, after: Distribution) -> list[Bars]:
    """The likeliest words before the cut, under a title, and after it."""
    first = after.order[:BARS]
    words = [run.model.tokenizer.label(int(entry)) for entry in first]
    return [
        Bars(title, words, after.softmax[first], "muted"),
        Bars("after the cut", words, after.cut[first], run.card.colour),
    ]
