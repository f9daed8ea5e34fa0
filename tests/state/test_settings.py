"""Settings: any text gives a legal value, one name is one setting, and a URL stays short."""

from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.models.card import NetworkSize
from ffnviz.parts import PAGES
from ffnviz.parts.neurons.name import NAMES, ROOM_IN_URL
from ffnviz.parts.part import Part
from ffnviz.state.actions import Set, reduce
from ffnviz.state.settings import (
    ENCODED,
    Setting,
    Values,
    count_setting,
    number_setting,
    shortened,
    text_setting,
)
from ffnviz.state.state import LONGEST_IN_URL, Catalog, from_url


def house_of(parts: dict[str, tuple[Setting[Any], ...]]) -> Catalog:
    """One page, of these parts."""
    return Catalog({"page": parts}, {"relu": NetworkSize(1, 4)}, ("token",), "Hello.")


PARTS = [part for page in PAGES for part in page.parts]
SETTINGS = [setting for part in PARTS for setting in part.settings]
BY_NAME = {setting.name: setting for setting in SETTINGS}
AWKWARD = ["nan", "-inf", "1e999", "1_000", "٣", "³", "9" * 5_000, "\x00", "\ufffe", "\ud800",
           "a" * 9_999, "🙂" * 9_999, "e\u0301" * 9_999, "2:1709, " * 999, "[" * 9_999]  # fmt: skip
ANY_TEXT = st.one_of(
    st.text(st.characters()),  # lone surrogates too
    st.floats().map(str),
    st.integers().map(str),
    st.text("0123456789:-, ;", max_size=40).map(lambda text: text * 60),
)


@pytest.mark.parametrize("setting", BY_NAME.values(), ids=BY_NAME.keys())
def test_an_awkward_text_gives_a_value_that_its_own_text_gives_again(setting: Setting[Any]) -> None:
    for text in AWKWARD:
        check(setting, text)


@settings(max_examples=30)
@given(st.lists(ANY_TEXT, min_size=len(BY_NAME), max_size=len(BY_NAME)))
def test_any_text_gives_a_value_that_its_own_text_gives_again(texts: list[str]) -> None:
    for setting, text in zip(BY_NAME.values(), texts, strict=True):
        check(setting, text)


def check(setting: Setting[Any], text: str) -> None:
    """A legal value, whose own text parses back to it."""
    value = setting.parse(text)
    written = setting.text(value)
    assert setting.parse(written) == value
    assert isinstance(value, (type(setting.default), float))
    quote_plus(written)  # what no URL can hold raises here
    if setting.longest is not None:
        assert len(written) <= setting.longest
    if isinstance(value, int | float):
        ends: list[Any] = [setting.parse("-1e999"), setting.parse("1e999")]
        assert ends[0] <= value <= ends[1]


@pytest.mark.parametrize(
    ("text", "number", "count"),
    [
        ("7.4", 7.4, 7),
        ("-3", 1, 1),
        ("inf", 9, 9),
        ("9" * 5_000, 9, 9),
        *((no_number, 5, 5) for no_number in ("nan", "1_000", "٣", "³", "", "3rd", "0x5")),
    ],
)
def test_a_number_beyond_its_range_is_its_nearer_end(text: str, number: float, count: int) -> None:
    assert number_setting("x", 5, 1, 9).parse(text) == number
    assert count_setting("x", 5, 1, 9).parse(text) == count


def test_a_number_keeps_its_digits_and_a_text_is_cut_and_not_dropped() -> None:
    number = number_setting("x", 5, 0, 9)
    assert (number.text(0.123456789), number.text(3.0)) == ("0.123456789", "3")
    setting = text_setting("x", "default", longest=10)
    assert setting.parse("a" * 25) == "a" * 10
    assert setting.parse("🙂" * 25) == "🙂" * 2  # of 12 characters each in a URL
    assert setting.parse("a\ud800") == "a\ufffd"
    assert setting.parse("") == ""


@given(st.text(st.characters(), max_size=60), st.integers(0, 50), st.integers(0, 200))
def test_a_shortened_text_is_as_long_as_there_is_room(text: str, longest: int, room: int) -> None:
    found = shortened(text, longest, room)
    plain = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    fitting = [n for n in range(min(len(plain), longest) + 1) if len(quote_plus(plain[:n])) <= room]
    assert found == plain[: fitting[-1]]


def test_one_name_is_one_setting() -> None:
    assert all(BY_NAME[setting.name] is setting for setting in SETTINGS)
    former = {old for setting in SETTINGS for old in setting.also}
    assert not former & {*BY_NAME, "text", "twin", "block", "token", "order", "neuron", "part"}


def test_a_former_name_is_read_for_its_own_part_only() -> None:
    one, other = (count_setting(name, 1, 0, 9, also=("x",)) for name in "ab")
    catalog = house_of({"one": (one,), "other": (other,)})

    def read(part: str, **url: str) -> dict[str, str]:
        return dict(from_url("page", {"part": part, **url}, catalog).settings)

    assert read("one", x="5", y="6") == {"a": "5"}
    assert read("other", x="5") == {"b": "5"}
    assert read("one", x="5", a="7") == {"a": "7"}  # the present name counts


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_page_has_a_url_that_servers_refuse(part: Part) -> None:
    # The most that can be typed in any script: of the signs a URL writes longest.
    worst = {setting.name: setting.parse("🙂" * 9_999) for setting in part.settings}
    texts = {name: value for name, value in worst.items() if isinstance(value, str)}
    texts.pop(NAMES.name, None)
    url = urlencode({**texts, "twin": "relu", "block": "2", "token": "128", "order": "strength",
                     "neuron": "relu-2047", "part": part.name})  # fmt: skip
    names = len(f"&{NAMES.name}=") + ROOM_IN_URL if NAMES in part.settings else 0
    assert len(url) + len("&text=") + LONGEST_IN_URL + names < 8_000


@given(st.floats(allow_nan=False))
def test_what_is_set_is_made_legal_before_it_is_kept(value: float) -> None:
    setting = number_setting("x", 5.0, 1.0, 9.0)
    catalog = house_of({"part": (setting,)})
    state = reduce(from_url("page", {}, catalog), Set({"x": setting.text(value)}), catalog)
    assert 1 <= Values(state.settings)[setting] <= 9


def test_values_are_those_that_are_set_or_the_usual_ones() -> None:
    word, number = text_setting("x", "moon", longest=17), number_setting("y", 1, 0, 2)
    values = Values({"y": "1.5", "z": "of another part"})
    assert (values[word], values[number]) == ("moon", 1.5)
    assert values.but(word, "sun")[word] == "sun"
    assert values[word] == "moon", "the first is as it was"
    assert not Values()
    assert len(quote_plus(",")) == ENCODED
