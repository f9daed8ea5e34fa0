"""The State: any of them survives the URL, any URL gives a legal one, and what each action does."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.models.card import NetworkSize
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.state.actions import (
    Action,
    ChooseBlock,
    ChooseNetwork,
    ChooseNeuron,
    ChooseOrder,
    ChoosePartner,
    ChooseToken,
    HideWord,
    OpenNeuron,
    OpenPage,
    Set,
    ShowSpecial,
    ShowState,
    ShowWord,
    Type,
    reduce,
)
from ffnviz.state.settings import choice_setting, count_setting, number_setting, text_setting
from ffnviz.state.state import (
    HIDEABLE,
    LARGEST,
    LONGEST_SENTENCE,
    MOST,
    Catalog,
    Hidden,
    Neuron,
    State,
    ViewOptions,
    class_code,
    from_url,
    readable,
    remembered,
    tidied,
    to_url,
    view_options_from_url,
    word_behind,
)

HOW = choice_setting("how", {"zero": "set to zero", "by": "multiply by"})
MUCH = number_setting("much", 2.0, -20, 20, also=("by",))
MANY = count_setting("many", 3, 1, 128)
SAYS = text_setting("says", longest=40)
HOUSE = Catalog(
    parts={
        "journey": {"journey": ()},
        "neurons": {"wakes": (), "switch": (HOW, MUCH), "name": (SAYS, HOW)},
        "lab": {"claims": (), "fit": (MANY,)},
    },
    networks={
        "relu": NetworkSize(2, 64),
        "gelu": NetworkSize(2, 64),
        "wide-net": NetworkSize(9, 70_000),
    },
    orders=("token", "strength", "index"),
    start="She opened the [MASK].",
    moved={
        ("lab", "plant"): ("neurons", "switch", {"how": "by"}),
        ("neurons", "former"): ("neurons", "name", {}),
    },
)
HERE = State("neurons", "switch", "The dogs ran.", "relu", 1, None, None, "token")

anything = st.text(max_size=60)
numbers = st.one_of(
    anything, st.integers().map(str), st.floats().map(str), st.sampled_from(["٣", "1_0", "1e999"])
)


@st.composite
def neurons(draw: st.DrawFn) -> Neuron:
    network = draw(st.sampled_from(list(HOUSE.networks)))
    size = HOUSE.networks[network]
    return Neuron(
        network, draw(st.integers(0, size.n_blocks - 1)), draw(st.integers(0, size.d_ff - 1))
    )


@st.composite
def states(draw: st.DrawFn) -> State:
    page = draw(st.sampled_from(list(HOUSE.parts)))
    part = draw(st.sampled_from(list(HOUSE.parts[page])))
    network = draw(st.sampled_from(list(HOUSE.networks)))
    others = [name for name in HOUSE.networks if name != network]
    texts = {setting.name: draw(anything) for setting in HOUSE.parts[page][part]}
    return State(
        page=page,
        part=part,
        sentence=readable(draw(st.text(max_size=80))),
        network=network,
        block=draw(st.integers(0, HOUSE.usual_block(network))),
        token=draw(st.none() | st.integers(0, LARGEST - 1)),
        neuron=draw(st.none() | neurons()),
        order=draw(st.sampled_from(HOUSE.orders)),
        partner=draw(st.none() | st.sampled_from(others)),
        settings=HOUSE.legal(page, part, texts),
        special=draw(st.booleans()),
    )


names = st.sampled_from(
    ["text", "twin", "block", "token", "neuron", "order", "partner", "part", "special", "how",
     "much", "by", "many", "says", "else"]
)  # fmt: skip
legal_neurons = neurons().map(lambda n: f"{n.network}-{n}")
urls = st.dictionaries(names, anything | numbers | legal_neurons)
STRANGE = [Neuron("/etc", 0, 1), Neuron("relu", 0, -1), Neuron("relu", 2, 1)]
former = st.sampled_from([part for _, part in HOUSE.moved])
places, tokens = st.sampled_from(["wakes", "name", "x"]), st.none() | st.integers(0, 9)
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Type, anything, st.booleans()),
    st.builds(ChooseToken, st.integers(-3, 300)),
    st.builds(ShowSpecial, st.booleans(), st.integers(-3, 300)),
    st.builds(HideWord, st.integers(-1, 90), st.integers(-1, 90), st.integers(-1, 20)),
    st.builds(ShowWord, st.integers(-1, 90), anything, st.integers(-1, 20)),
    st.builds(ChooseNetwork, st.sampled_from([*HOUSE.networks, "/etc"])),
    st.builds(ChoosePartner, st.sampled_from([*HOUSE.networks, "/etc", None])),
    st.builds(ChooseBlock, st.integers(-2, 12), st.dictionaries(names, anything)),
    st.builds(ChooseNeuron, neurons() | st.sampled_from(STRANGE)),
    st.builds(ChooseOrder, st.sampled_from([*HOUSE.orders, "size"])),
    st.builds(OpenPage, st.sampled_from([*HOUSE.parts, "x"]), anything | former, urls),
    st.builds(OpenNeuron, neurons() | st.sampled_from(STRANGE), st.just("neurons"), places, tokens),
    st.builds(Set, st.dictionaries(names, st.none() | anything)),
    st.builds(ShowState, states() | st.builds(replace, states(), part=anything, block=st.just(99))),
)  # fmt: skip


def assert_legal(state: State) -> None:
    assert state.part in HOUSE.parts[state.page]
    assert len(state.sentence) <= LONGEST_SENTENCE
    assert 0 <= state.block < HOUSE.networks[state.network].n_blocks
    assert state.token is None or state.token >= 0
    assert state.neuron is None or HOUSE.has_neuron(state.neuron)
    assert state.order in HOUSE.orders
    assert state.partner is None or state.partner in set(HOUSE.networks) - {state.network}
    assert state.settings == HOUSE.legal(state.page, state.part, dict(state.settings))


@given(state=states())
def test_any_state_survives_the_url(state: State) -> None:
    assert from_url(state.page, to_url(state, HOUSE), HOUSE) == state


@given(page=anything | st.sampled_from(list(HOUSE.parts)), part=anything | former, url=urls)
def test_any_url_gives_a_legal_state(page: str, part: str, url: dict[str, str]) -> None:
    assert_legal(from_url(page, url, HOUSE))
    assert_legal(from_url(page, {**url, "part": part}, HOUSE))


@given(state=states(), done=st.lists(actions, max_size=6))
def test_any_actions_lead_to_a_state_that_survives(state: State, done: list[Action]) -> None:
    for action in done:
        state = reduce(state, action, HOUSE)
        assert_legal(state)
    assert from_url(state.page, to_url(state, HOUSE), HOUSE) == state


NOT_SHOWN = {
    # int() would read the third, and not the fifth.
    "token": ("3rd", "-3", "٣", "³", "9" * 5_000, "", "x", "3.5", "1e3"),
    "block": ("-1", "١", "99", "9" * 5_000, "", "x", "3.5", "1e3"),
    "neuron": ("7", "relu", "relu-", "relu--1", "relu-٣", "relu-1-2", "swish-7", "relu-999999",
               "relu-" + "9" * 5_000),
    "twin": ("RELU",), "order": ("Index",), "colour": ("red",),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_SHOWN)
def test_what_cannot_be_shown_takes_its_default(name: str) -> None:
    usual = from_url("neurons", {"text": "A b."}, HOUSE)
    for value in NOT_SHOWN[name]:
        assert from_url("neurons", {"text": "A b.", name: value}, HOUSE) == usual, value


def test_links_of_old_and_what_was_moved_are_found() -> None:
    """A neuron without its block, words as values, and names that settings had."""
    url = {"text": "A b.", "block": "1", "neuron": "gelu-5", "part": "switch", "how": "multiply by",
           "by": "3"}  # fmt: skip
    state = from_url("neurons", url, HOUSE)
    assert state.neuron == Neuron("gelu", 0, 5)
    assert dict(state.settings) == {"how": "by", "much": "3"}
    url = {"text": "A b.", "part": "plant", "how": "zero", "much": "3", "many": "9"}
    state = from_url("lab", url, HOUSE)
    assert (state.page, state.part) == ("neurons", "switch")
    assert dict(state.settings) == {"how": "by", "much": "3"}
    opened = reduce(HERE, OpenPage("lab", "plant", {"much": "3"}), HOUSE)
    assert opened == replace(HERE, settings=(("how", "by"), ("much", "3")))
    assert reduce(HERE, OpenPage("lab", "former"), HOUSE).part == "claims"


def test_two_settings_of_one_name_do_not_make_a_house() -> None:
    other = count_setting("many", 1, 0, 9)
    with pytest.raises(ValueError, match="'many'"):
        replace(HOUSE, moved={}, parts={"a": {"a": (MANY,), "b": (other,)}})
    with pytest.raises(ValueError, match="'block'"):
        replace(HOUSE, moved={}, parts={"a": {"a": (count_setting("block", 1, 0, 9),)}})
    replace(HOUSE, moved={}, parts={"a": {"a": (MANY,), "b": (MANY,)}})
    for former, now in [
        (("lab", "fit"), ("neurons", "name", {})),
        (("lab", "old"), ("neurons", "gone", {})),
        (("lab", "old"), ("gone", "name", {})),
        (("lab", "old"), ("neurons", "name", {"many": "3"})),
    ]:
        with pytest.raises(ValueError, match=now[1]):
            replace(HOUSE, moved={former: now})


def test_another_sentence_network_or_block_brings_what_belongs_to_it() -> None:
    chosen = replace(HERE, token=1)
    assert reduce(chosen, Type("The dogs ran home.", keep_token=True), HOUSE).token == 1
    assert reduce(chosen, Type("It rained."), HOUSE).token is None
    deep = replace(HERE, network="wide-net", block=8)
    assert reduce(deep, ChooseNetwork("relu"), HOUSE).block == 1
    chosen = replace(HERE, neuron=Neuron("gelu", 1, 7))
    assert reduce(chosen, ChooseBlock(0), HOUSE).neuron == Neuron("gelu", 0, 7)
    met = reduce(HERE, OpenNeuron(Neuron("gelu", 0, 7), "neurons", "name", token=2), HOUSE)
    assert (met.network, met.block, met.token) == ("gelu", 0, 2)
    assert (met.page, met.part) == ("neurons", "name")
    away = replace(HERE, neuron=Neuron("wide-net", 7, 69_999))
    assert to_url(away, HOUSE)["neuron"] == "wide-net-8:69999"
    here = replace(HERE, neuron=Neuron("wide-net", 1, 17))
    assert to_url(here, HOUSE)["neuron"] == "wide-net-17"


def test_settings_go_with_their_part_and_block_and_are_not_kept_at_their_default() -> None:
    here = reduce(HERE, ChooseBlock(0, {"how": "by"}), HOUSE)
    assert (here.block, dict(here.settings)["how"]) == (0, "by")
    assert reduce(HERE, ChooseBlock(9, {"how": "by"}), HOUSE) == HERE
    here = reduce(HERE, Set({"how": "by"}), HOUSE)
    there = reduce(here, OpenPage("lab", "fit", {"many": "5", "how": "by"}), HOUSE)
    assert dict(there.settings) == {"many": "5"}
    here = reduce(HERE, Set({"much": "5"}), HOUSE)
    assert dict(here.settings) == {"much": "5"}
    assert reduce(here, Set({"much": "2"}), HOUSE) == HERE
    assert reduce(here, Set({"much": None}), HOUSE) == HERE
    there = State("lab", "fit", "It rained.", "gelu", 0, 2, Neuron("gelu", 0, 7), "index")
    assert reduce(HERE, ShowState(there), HOUSE) == there


def test_a_hidden_word_is_a_mask_as_are_three_underscores() -> None:
    hidden = reduce(HERE, HideWord(4, 8, token=1), HOUSE)
    assert (hidden.sentence, hidden.token) == ("The [MASK] ran.", 1)
    for start, end in ((8, 4), (4, 4), (4, 99), (-1, 3)):
        assert reduce(HERE, HideWord(start, end, token=1), HOUSE) is HERE
    same = "snake_case and __init__"
    for typed, read in (("The _______ sat on ___", "The [MASK] sat on [MASK]"), (same, same)):
        assert readable(typed) == read
        assert reduce(HERE, Type(typed), HOUSE).sentence == read
        assert from_url("lab", {"text": typed}, HOUSE).sentence == read


hidden = st.lists(st.sampled_from(HIDEABLE), unique=True).map(
    lambda names: tuple(name for name in HIDEABLE if name in names)
)
inside = st.builds(
    lambda scene, short, talk, hide, code, lecture: ViewOptions(
        scene, short, talk[0], talk[1], hide, code, lecture
    ),
    st.integers(0, 9_000),
    st.booleans(),
    st.sampled_from([(False, False), (True, False), (True, True)]),
    hidden,
    st.sampled_from(["", "ABCD23"]),
    st.sampled_from(["", "course"]),
)
showings = inside | st.builds(ViewOptions, hide=hidden)
showing_names = st.sampled_from(["scene", "path", "present", "hide", "class", "lecture", "text"])
showing_values = (
    st.text(max_size=20) | st.integers().map(str) | st.sampled_from(["1", "explore", "short"])
)


@given(showings)
def test_any_showing_survives_the_url(showing: ViewOptions) -> None:
    assert view_options_from_url(showing.to_url()) == showing


@given(st.dictionaries(showing_names, showing_values))
def test_any_url_gives_one_that_survives_the_url(url: dict[str, str]) -> None:
    showing = view_options_from_url(url)
    assert view_options_from_url(showing.to_url()) == showing


def test_outside_of_a_lecture_nothing_is_presented_and_a_code_is_read_however_it_is_typed() -> None:
    assert view_options_from_url({"present": "1", "path": "short"}) == ViewOptions()
    assert class_code(" k7m-q2x ") == "K7MQ2X"
    assert class_code("<b>") == class_code("") == class_code("x" * 40) == ""


words = st.text("abcאבד1é-", min_size=1, max_size=6).filter(
    lambda word: any(map(str.isalnum, word))
)


@given(st.lists(words, min_size=2, max_size=8), st.data())
def test_words_hidden_in_any_order_come_back_so(typed: list[str], data: st.DataObject) -> None:
    hidden: Hidden = {}
    now = list(typed)
    places = data.draw(st.lists(st.integers(0, len(typed) - 1), unique=True, min_size=1))
    for place in places:
        start = len(" ".join([*now[:place], ""]))
        hidden = remembered(hidden, " ".join(now), start, start + len(now[place]), MASK)
        now[place] = MASK
    for place in data.draw(st.permutations(places)):
        end = len(" ".join(now[: place + 1]))
        word = word_behind(hidden, " ".join(now), end)
        assert word == typed[place]
        hidden = remembered(hidden, " ".join(now), end - len(MASK), end, word)
        now[place] = word


def test_of_a_mask_that_was_typed_nobody_knows_a_word() -> None:
    hidden = remembered({}, "The cat sat.", 4, 7, MASK)
    assert word_behind(hidden, "A dog [MASK] here", 12) == ""
    assert word_behind(hidden, "The cat sat.", 7) == ""
    for number in range(200):
        hidden = remembered(hidden, f"{number} cats {number}", len(str(number)) + 1, 8, MASK)
    assert len(hidden) <= MOST


@given(st.text(st.sampled_from("ab \t\n\r\f\v\u00a0_[MASK]ש")))
def test_blanks_of_any_kind_are_one_and_nothing_else_is_lost(text: str) -> None:
    read = tidied(text)
    assert not any(blanks in read for blanks in ("  ", "\t", "\n", "\r", "\f", "\v"))
    if "___" not in text:
        assert read.split() == text.split()
    assert tidied(read) == read
    assert readable(readable(text)) == readable(text)
