"""Lectures as files: what is written is read back, and a broken file says which scene is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.lecture.lecture import (
    LENGTHS,
    Lecture,
    LectureError,
    LectureTable,
    Question,
    QuestionTable,
    Scene,
    SceneTable,
    read_lecture,
    written_lecture,
)
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
    pictures_of=lambda state: ("ffn", "maps") if state.part == "switch" else ("prediction",),
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


def test_a_file_is_read_as_it_says_also_with_a_former_part() -> None:
    first, second = read(GOOD).scenes
    assert first.state == State("journey", "journey", "It [MASK].", "relu", 1, None, None, "token")
    assert second.question == Question("How many?", ("one", "two"), 1)
    assert (second.state.page, second.state.block) == ("neurons", 0)
    assert dict(second.state.settings) == {"by": "3"}
    assert read(GOOD).path(short=True) == [1]
    assert read(GOOD).path(short=False) == [0, 1]
    moved = GOOD.replace("/neurons?part=switch", "/lab?part=scale")
    state = read(moved).scenes[1].state
    assert (state.page, state.part) == ("neurons", "switch")
    assert dict(state.settings) == {"by": "3", "do": "scale"}
    with pytest.raises(LectureError, match="order cannot be"):
        read(moved.replace("by=3.0", "order=size"))


FIRST, SECOND = "Scene 1 (“First”): ", "Scene 2 (“Second”): "
BROKEN = {
    'minutes = 40': ('minutes = "40"', "minutes must be a whole number from 0 to 600."),
    'title = "First"': ("title = 3", "Scene 1 (“3”): title must be a text of 1 to 120"),
    'title = "A': ('name = "x"\ntitle = "A', "a lecture has no “name”. It must be one of"),
    "{awake}": (
        "{aweke}",
        f"{FIRST}say: there is no computed number called “{{aweke}}”. "
        "It must be one of awake, says.",
    ),
    "wakes {awake}": ("wakes {awake.x}", f"{FIRST}say: there is no computed number called “{{awak"),
    "wakes": ("wakes {", f"{FIRST}say: a brace stands alone"),
    'page = "journey"': ('page = "journy"', f"{FIRST}page must be one of journey, neurons; it is"),
    '"It ___."': ('"It"\nblok = 1', f"{FIRST}“blok” cannot be set"),
    "It ___": (
        "It rained.\"\nblock = 3\norder = \"index",
        f"{FIRST}block cannot be “3” here. It must be a whole number from 1 to 2.",
    ),
    "short = ": ("short = 1 #", f"{SECOND}short must be true or false."),
    "by=3.0": ("by=30", f"{SECOND}by cannot be “30” here. It must be a number from -20 to 20."),
    "part=switch": ("part=swich", f"{SECOND}part must be one of switch, wakes; it is “swich”"),
    "page = \"journey\"\n": ("", f"{FIRST}page must be one of"),
    "[scene.view]": ("[scene.sight]", f"{FIRST}a scene has no “sight”. It must be one of"),
    "short = true": ('look = "map"', f"{SECOND}look: no picture is called “map”. It must be on"),
    "short = true\n": (
        'look = "prediction"\n',
        f"{SECOND}look: the scene's view has no picture “prediction”. It must be one of ffn, maps.",
    ),
    'text = "It ___."': ("text = true", f"{FIRST}view must be a table of texts and numbers"),
    "short": ('view = {page = "journey"}\nshort', f"{SECOND}it must have either a view or a link"),
    "answer = 2": ("answer = 3", f"{SECOND}answer must be a whole number from 1 to 2."),
    "answer = 2\n": ("", f"{SECOND}answer is missing; it must be the number of the right option"),
    '    "two",\n': ("", f"{SECOND}options must be a list of 2 to 6 texts"),
    'ask = "How many?"': ('asks = "How many?"', f"{SECOND}a question has no “asks”"),
    'title = "Second"\n': ("", "Scene 2: title is missing; it must be a text of 1 to 120"),
    'say = "It': ('say = " "\nnotes = "It', f"{FIRST}say must be a text of 1 to 1,000 characters"),
}  # fmt: skip


def test_what_is_no_lecture_says_where_and_why() -> None:
    for old in BROKEN:
        new, why = BROKEN[old]
        assert old in GOOD
        with pytest.raises(LectureError) as error:
            read(GOOD.replace(old, new, 1))
        assert str(error.value).startswith(why)
    for name in ("x` - at `$.scene[9].y", "missing required field `x`", "\\n`"):
        with pytest.raises(LectureError, match="has no “"):
            read(GOOD.replace("minutes", f'"{name}"', 1))
    with pytest.raises(LectureError, match=r"not TOML.*line 2"):
        read('title = "x"\nminutes = forty\n')
    with pytest.raises(LectureError, match="scene is missing; it must be a list of 1 to 200"):
        read('title = "x"')
    long = GOOD.replace("A lecture", "x" * (LENGTHS["title"] + 1))
    with pytest.raises(LectureError, match="title must be a text of 1 to 120 characters"):
        read(long)


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
    st.sampled_from(["", "maps", "ffn"]),
    st.none() | st.builds(Question, words, st.tuples(words, words), st.integers(0, 1)),
    st.just("") | words,
    st.booleans(),
)  # fmt: skip


@given(st.builds(Lecture, words, st.tuples(scenes, scenes), st.integers(0, 600)))
def test_any_lecture_survives_its_file(lecture: Lecture) -> None:
    assert read(written_lecture(lecture, HOUSE)) == lecture


def test_the_manual_names_everything_that_a_scene_may_have() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "lecture.md").read_text(encoding="utf-8")
    tables = (LectureTable, SceneTable, QuestionTable)
    for name in (name for table in tables for name in table.__struct_fields__):
        assert f"`{name}`" in manual, name
