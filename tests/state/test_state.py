"""The State: any of them survives the URL, any URL gives a legal one, and what each action does."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.models.card import NetworkSize
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
from ffnviz.state.settings import (
    Setting,
    choice_setting,
    count_setting,
    number_setting,
    text_setting,
)
from ffnviz.state.state import (
    LARGEST,
    LONGEST_SENTENCE,
    Catalog,
    Neuron,
    State,
    from_url,
    readable,
    to_url,
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
def test_any_actions_lead_to_a_legal_state_that_survives_the_url(
    state: State, done: list[Action]
) -> None:
    for action in done:
        state = reduce(state, action, HOUSE)
        assert_legal(state)
    assert from_url(state.page, to_url(state, HOUSE), HOUSE) == state


@given(setting=st.sampled_from([HOW, MUCH, MANY, SAYS]), text=anything | numbers)
def test_any_text_gives_a_legal_value_that_its_own_text_gives_again(
    setting: Setting[Any], text: str
) -> None:
    value = setting.parse(text)
    assert setting.parse(setting.text(value)) == value


def test_what_lies_beyond_a_range_is_brought_into_it() -> None:
    assert MANY.parse("130") == 128
    assert MANY.parse("0") == 1
    assert MANY.parse("1e999") == 128
    assert MANY.parse("x") == 3
    assert MUCH.parse("-99") == -20
    assert MUCH.parse("nan") == 2
    assert SAYS.parse("a" * 41) == "a" * 40


def test_links_of_old_are_read() -> None:
    """A neuron without its block, words as values, and names that settings had."""
    url = {"text": "A b.", "block": "1", "neuron": "gelu-5", "part": "switch", "how": "multiply by",
           "by": "3"}  # fmt: skip
    state = from_url("neurons", url, HOUSE)
    assert state.neuron == Neuron("gelu", 0, 5)
    assert dict(state.settings) == {"how": "by", "much": "3"}


def test_what_was_moved_is_found_by_its_former_name() -> None:
    url = {"text": "A b.", "part": "plant", "how": "zero", "much": "3", "many": "9"}
    state = from_url("lab", url, HOUSE)
    assert (state.page, state.part) == ("neurons", "switch")
    assert dict(state.settings) == {"how": "by", "much": "3"}
    opened = reduce(HERE, OpenPage("lab", "plant", {"much": "3"}), HOUSE)
    assert opened == replace(HERE, settings=(("how", "by"), ("much", "3")))
    assert reduce(HERE, OpenPage("lab", "former"), HOUSE).part == "claims"


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (("lab", "fit"), ("neurons", "name", {})),
        (("lab", "old"), ("neurons", "gone", {})),
        (("lab", "old"), ("gone", "name", {})),
        (("lab", "old"), ("neurons", "name", {"many": "3"})),
    ],
)
def test_what_is_there_or_leads_nowhere_cannot_have_moved(
    former: tuple[str, str], now: tuple[str, str, dict[str, str]]
) -> None:
    with pytest.raises(ValueError, match=now[1]):
        replace(HOUSE, moved={former: now})


def test_a_neuron_of_another_block_is_written_with_its_block() -> None:
    away = replace(HERE, neuron=Neuron("wide-net", 7, 69_999))
    assert to_url(away, HOUSE)["neuron"] == "wide-net-8:69999"
    here = replace(HERE, neuron=Neuron("wide-net", 1, 17))
    assert to_url(here, HOUSE)["neuron"] == "wide-net-17"


def test_two_settings_of_one_name_do_not_make_a_house() -> None:
    other = count_setting("many", 1, 0, 9)
    with pytest.raises(ValueError, match="'many'"):
        replace(HOUSE, moved={}, parts={"a": {"a": (MANY,), "b": (other,)}})
    with pytest.raises(ValueError, match="'block'"):
        replace(HOUSE, moved={}, parts={"a": {"a": (count_setting("block", 1, 0, 9),)}})
    replace(HOUSE, moved={}, parts={"a": {"a": (MANY,), "b": (MANY,)}})


def test_another_sentence_has_a_token_of_its_own_unless_it_goes_on() -> None:
    chosen = replace(HERE, token=1)
    assert reduce(chosen, Type("The dogs ran home.", keep_token=True), HOUSE).token == 1
    assert reduce(chosen, Type("It rained."), HOUSE).token is None


def test_a_block_that_the_next_network_has_not_becomes_its_last() -> None:
    deep = replace(HERE, network="wide-net", block=8)
    assert reduce(deep, ChooseNetwork("relu"), HOUSE).block == 1


def test_the_neuron_moves_with_the_block() -> None:
    chosen = replace(HERE, neuron=Neuron("gelu", 1, 7))
    assert reduce(chosen, ChooseBlock(0), HOUSE).neuron == Neuron("gelu", 0, 7)


def test_a_setting_goes_with_the_block_and_nothing_does_where_there_is_none() -> None:
    here = reduce(HERE, ChooseBlock(0, {"how": "by"}), HOUSE)
    assert (here.block, dict(here.settings)["how"]) == (0, "by")
    assert reduce(HERE, ChooseBlock(9, {"how": "by"}), HOUSE) == HERE


def test_a_neuron_that_is_met_brings_its_network_and_block() -> None:
    met = reduce(HERE, OpenNeuron(Neuron("gelu", 0, 7), "neurons", "name", token=2), HOUSE)
    assert (met.network, met.block, met.token) == ("gelu", 0, 2)
    assert (met.page, met.part) == ("neurons", "name")


def test_turning_leaves_this_parts_settings_behind_and_takes_those_of_the_next() -> None:
    here = reduce(HERE, Set({"how": "by"}), HOUSE)
    there = reduce(here, OpenPage("lab", "fit", {"many": "5", "how": "by"}), HOUSE)
    assert dict(there.settings) == {"many": "5"}


def test_a_setting_at_its_default_is_not_kept() -> None:
    here = reduce(HERE, Set({"much": "5"}), HOUSE)
    assert dict(here.settings) == {"much": "5"}
    assert reduce(here, Set({"much": "2"}), HOUSE) == HERE
    assert reduce(here, Set({"much": None}), HOUSE) == HERE


def test_a_state_that_is_looked_at_is_taken_as_a_whole() -> None:
    there = State("lab", "fit", "It rained.", "gelu", 0, 2, Neuron("gelu", 0, 7), "index")
    assert reduce(HERE, ShowState(there), HOUSE) == there


def test_a_hidden_word_is_a_mask_and_the_chosen_token() -> None:
    hidden = reduce(HERE, HideWord(4, 8, token=1), HOUSE)
    assert (hidden.sentence, hidden.token) == ("The [MASK] ran.", 1)
    for start, end in ((8, 4), (4, 4), (4, 99), (-1, 3)):
        assert reduce(HERE, HideWord(start, end, token=1), HOUSE) is HERE


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("The ___ sat.", "The [MASK] sat."),
        ("The _______ sat on ___", "The [MASK] sat on [MASK]"),
        ("snake_case and __init__", "snake_case and __init__"),
    ],
)
def test_three_underscores_or_more_are_a_mask(typed: str, read: str) -> None:
    assert readable(typed) == read
    assert reduce(HERE, Type(typed), HOUSE).sentence == read
    assert from_url("lab", {"text": typed}, HOUSE).sentence == read
