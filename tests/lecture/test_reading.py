"""Lectures as files: what is written is read back, and a broken file says which line is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.lecture.lines import line_of
from ffnviz.lecture.reading import LENGTHS, LectureError, read_lecture
from ffnviz.lecture.scene import Lecture, Question, Scene
from ffnviz.lecture.writing import written_lecture
from ffnviz.models.card import NetworkSize
from ffnviz.state.settings import choice_setting, number_setting
from ffnviz.state.state import Catalog, Neuron, State

DO = choice_setting("do", {"zero": "set to zero", "scale": "multiply by"})
BY = number_setting("by", 2.0, -20, 20)
HOUSE = Catalog(
    parts={"journey": {"journey": ()}, "neurons": {"wakes": (), "switch": (DO, BY)}},
    networks={"relu": NetworkSize(2, 64), "gelu": NetworkSize(2, 64)},
    orders=("token", "index"),
    start="She opened the [MASK].",
    moved={("lab", "scale"): ("neurons", "switch", {"do": "scale"})},
)
FACTS = ("awake", "says")
GOOD = """\
title = "A lecture"
minutes = 40

[[scene]]
title = "First"
say = "It wakes {awake} neurons."
[scene.view]
page = "journey"
text = "It ___."

[[scene]]
title = "Second"
say = '''
[[scene]]
two lines'''
short = true
link = "http://localhost:8501/neurons?part=switch&text=It+rained.&block=1&by=3.0&scene=4"
[scene.question]
ask = "How many?"
options = [
    "one",
    "two",
]
answer = 2
"""


def read(text: str) -> Lecture:
    return read_lecture(text, HOUSE, FACTS)


def test_a_file_is_read_as_it_says() -> None:
    first, second = read(GOOD).scenes
    assert first.state == State("journey", "journey", "It [MASK].", "relu", 1, None, None, "token")
    assert second.question == Question("How many?", ("one", "two"), 1)
    assert (second.state.page, second.state.block) == ("neurons", 0)
    assert dict(second.state.settings) == {"by": "3"}
    assert read(GOOD).path(short=True) == [1]
    assert read(GOOD).path(short=False) == [0, 1]


def test_a_scene_may_name_a_former_part() -> None:
    moved = GOOD.replace("/neurons?part=switch", "/lab?part=scale")
    state = read(moved).scenes[1].state
    assert (state.page, state.part) == ("neurons", "switch")
    assert dict(state.settings) == {"by": "3", "do": "scale"}
    with pytest.raises(LectureError, match="order cannot be"):
        read(moved.replace("by=3.0", "order=size"))


BROKEN = {
    'minutes = 40': ('minutes = "40"', 2, "whole number from 0 to 600"),
    'title = "First"': ("title = 3", 5, "must be a text"),
    "{awake}": ("{aweke}", 6, "{aweke}"),
    "wakes {awake}": ("wakes {awake.__class__}", 6, "is no number"),
    "wakes": ("wakes {", 6, "brace"),
    'page = "journey"': ('page = "journy"', 8, "journy"),
    '"It ___."': ('"It"\nblok = 1', 10, "“blok” cannot be set"),
    "It ___": ("It rained.\"\nblock = 3\norder = \"index", 10, "block cannot be “3”"),
    "short = true": ("short = 1", 16, "true or false"),
    "by=3.0": ("by=30", 17, "by cannot be “30”"),
    "part=switch": ("part=swich", 17, "part must be one of wakes, switch"),
    "page = \"journey\"\n": ("", 7, "page must be one of"),
    "answer = 2": ("answer = 3", 24, "from 1 to 2"),
    "answer = 2\n": ("", 18, "no answer"),
    '    "two",\n': ("", 20, "2 to 6"),
    'ask = "How many?"': ('asks = "How many?"', 19, "a question has no “asks”"),
    'title = "Second"\n': ("", 11, "title is missing"),
}  # fmt: skip


@pytest.mark.parametrize("old", BROKEN)
def test_a_broken_file_says_which_line_is_wrong_and_why(old: str) -> None:
    new, line, why = BROKEN[old]
    assert old in GOOD
    with pytest.raises(LectureError) as error:
        read(GOOD.replace(old, new, 1))
    assert str(error.value).startswith(f"Line {line}: ")
    assert why in str(error.value)


def test_what_is_no_toml_says_where() -> None:
    with pytest.raises(LectureError, match=r"not TOML.*line 2"):
        read('title = "x"\nminutes = forty\n')
    with pytest.raises(LectureError, match="no scene"):
        read('title = "x"')


@given(st.text(max_size=200))
def test_any_text_is_a_lecture_or_an_error_in_words(text: str) -> None:
    with pytest.raises(LectureError):
        read(text)


words = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="{}"), min_size=1, max_size=40
).filter(lambda text: text.strip() == text)
scenes = st.builds(
    Scene,
    words,
    st.builds(
        State, st.just("neurons"), st.just("switch"), words, st.sampled_from(["relu", "gelu"]),
        st.integers(0, 1), st.none() | st.integers(0, 90),
        st.none() | st.builds(Neuron, st.just("gelu"), st.integers(0, 1), st.integers(0, 63)),
        st.sampled_from(["token", "index"]), st.none(),
        st.sampled_from([(), (("by", "-0.5"), ("do", "scale"))]),
    ),
    words,
    st.just("") | words,
    st.none() | st.builds(Question, words, st.tuples(words, words), st.integers(0, 1)),
    st.just("") | words,
    st.booleans(),
)  # fmt: skip


@given(st.builds(Lecture, words, st.tuples(scenes, scenes), st.integers(0, 600)))
def test_any_lecture_survives_its_file(lecture: Lecture) -> None:
    assert read(written_lecture(lecture, HOUSE)) == lecture


def test_the_line_of_a_value_is_where_it_begins() -> None:
    assert line_of(GOOD, ("scene", 1, "say")) == 13
    assert line_of(GOOD, ("scene", 1, "short")) == 16
    assert line_of(GOOD, ("scene", 1, "question", "options")) == 20
    assert line_of(GOOD, ("nothing",)) == 1


def test_no_word_is_longer_than_a_screen_has_room_for() -> None:
    long = GOOD.replace("A lecture", "x" * (LENGTHS["title"] + 1))
    with pytest.raises(LectureError, match="Line 1: title has more than"):
        read(long)


def test_the_manual_names_everything_that_a_scene_may_have() -> None:
    from ffnviz.lecture.facts import FACTS as ALL
    from ffnviz.lecture.reading import OF_LECTURE, OF_QUESTION, OF_SCENE

    manual = (Path(__file__).parents[2] / "docs" / "lecture.md").read_text(encoding="utf-8")
    for name in (*OF_LECTURE, *OF_SCENE, *OF_QUESTION):
        assert f"`{name}`" in manual, name
    for name in ALL:
        assert f"`{{{name}}}`" in manual, name
