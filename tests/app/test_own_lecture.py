"""A lecture of one's own as the browser keeps it: half done or whole, and whatever comes back."""

import json
from typing import Any

import pytest

from ffnviz.app.lecture.draft import read_draft, written_draft
from ffnviz.app.lecture.editor import other_word
from ffnviz.lecture.lecture import LENGTHS, MOST_SCENES, NO_ANSWER, Draft, Question, Scene
from ffnviz.state.state import State, from_url
from tests.lecture.lecture_runs import run_of_scene, shown
from tests.lecture.test_reading import HOUSE


def view(page: str = "neurons", **url: str) -> State:
    return from_url(page, url, HOUSE)


def made(*scenes: Scene) -> Draft:
    draft = Draft("Two “networks”", minutes=40, short_minutes=8)
    for n, scene in enumerate(scenes):
        draft = draft.added(scene, [f"note-{n}"])
    return draft


def test_what_is_kept_comes_back_as_it_was_also_half_done() -> None:
    draft = made(
        Scene(
            "", view(text="It's <b>so</b> ___.", part="switch", do="scale", by="3.5"), "{nothing"
        ),
        Scene("Second", view("journey"), "Two\nlines", "map", Question("", ("one",), 0), "N", True),
        Scene("Third", view(neuron="1.7", twin="gelu"), "S", "", Question("Which?", (), 0)),
    )
    text = written_draft(draft, HOUSE, shown=True)
    assert read_draft(text, HOUSE) == (draft, True)
    assert json.loads(text)["scenes"][0]["view"]["by"] == "3.5"

    assert written_draft(Draft("A title"), HOUSE) == ""
    assert read_draft("", HOUSE) == (Draft(), False)


THUMBNAIL = "data:image/jpeg;base64,/9j/AA=="


def test_a_scene_goes_to_any_place_and_keeps_its_number_and_picture() -> None:
    draft = made(*(Scene(str(n), view(), "S") for n in range(3))).without(2).moved(3, -1)
    back, _ = read_draft(written_draft(draft, HOUSE), HOUSE)
    assert [each.scene.title for each in back.views] == ["2", "0"]
    assert len({each.number for each in back.added(Scene("3", view(), "S")).views}) == 3

    draft = made(*(Scene(str(n), view(), "S") for n in range(4)))

    def titles(moved: Draft) -> str:
        return "".join(each.scene.title for each in moved.views)

    assert titles(draft.moved(1, 3)) == "1230"
    assert titles(draft.moved(4, -3)) == "3012"
    assert titles(draft.moved(2, 1)) == "0213"
    assert draft.moved(1, 4) == draft.moved(1, -1) == draft.moved(9, 1) == draft

    scene = Scene("0", view(), "S")
    draft = Draft("A title").added(scene).added(scene, [], THUMBNAIL)
    back, _ = read_draft(written_draft(draft, HOUSE), HOUSE)
    assert back == draft
    assert [(each.number, each.thumbnail) for each in back.views] == [(1, ""), (2, THUMBNAIL)]
    assert [(each.number, each.thumbnail) for each in back.without(2).views] == [(1, "")]


SCENE = {"title": "T", "say": "S", "page": "neurons", "view": {}}


@pytest.mark.parametrize(
    "sent",
    [
        "javascript:alert(1)", "data:image/svg+xml;base64,AAAA", "data:image/jpeg;base64,<b>",
        "https://example.org/a.jpg", THUMBNAIL + "\n", THUMBNAIL + "A" * 20_000, 3, None, ["x"],
        f"data:image/jpeg;base64,{'A' * 20_000}",
    ],
)  # fmt: skip
def test_what_is_no_small_picture_is_none(sent: object) -> None:
    draft, _ = read_draft(json.dumps({"scenes": [SCENE | {"thumbnail": sent}]}), HOUSE)
    assert len(draft.views) == 1
    assert draft.views[0].thumbnail == ""


@pytest.mark.parametrize(
    "sent",
    [
        "{", "[" * 100_000, "null", "[]", "3", '"text"', "{}", '{"scenes": 3}', "NaN",
        '{"scenes": [null, 3, "x", [], {}, {"view": 3}]}',
    ],
)  # fmt: skip
def test_what_holds_no_scene_is_an_empty_draft(sent: str) -> None:
    assert read_draft(sent, HOUSE)[0].views == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"page": "../../etc/passwd"}, {"title": "", "say": "{nothing"},
        {"view": {"block": "99999999999", "neuron": "x", "twin": "gpt", "by": "1e999"}},
        {"view": {"part": "switch", "do": "<script>", "token": "-1"}},
        {"options": ["o"], "ask": "A", "answer": 7}, {"options": [], "answer": 10**30},
        {"options": ["o" * 999] * 500}, {"pictures": "x"}, {"pictures": [3, "y" * 999, "z"]},
    ],
)  # fmt: skip
def test_what_a_browser_sends_is_made_legal(changed: dict[str, object]) -> None:
    draft, shown = read_draft(json.dumps({"title": "T", "scenes": [SCENE | changed]}), HOUSE)
    [only] = draft.views
    scene = only.scene
    assert not shown
    assert scene.state.page in HOUSE.parts
    assert scene.question is None or scene.question.answer <= len(scene.question.options)
    # Once legal it stays as it is: two tabs that share it come to an end.
    text = written_draft(draft, HOUSE)
    assert written_draft(read_draft(text, HOUSE)[0], HOUSE) == text


NOT_KEPT: list[dict[str, Any]] = [
    {"page": 3}, {"title": 3}, {"say": None}, {"view": {"text": 3}}, {"short": "yes"},
    {"options": "abc"}, {"options": [3, None, "o"]}, {"options": ["o"], "answer": -2},
    *({name: "x" * (LENGTHS[name] + 1)} for name in ("title", "say", "notes", "look", "ask")),
]  # fmt: skip
NO_LECTURE: list[dict[str, Any]] = [{"minutes": True}, {"title": 3}, {"scenes": [SCENE] * 999}]


def test_what_the_page_cannot_have_kept_is_no_draft() -> None:
    assert MOST_SCENES < 999
    lecture = {"title": "T", "scenes": [SCENE]}
    assert len(read_draft(json.dumps(lecture), HOUSE)[0].views) == 1
    sent = [{"scenes": [SCENE | changed]} for changed in NOT_KEPT]
    for each in [*sent, *(lecture | changed for changed in NO_LECTURE)]:
        assert read_draft(json.dumps(each), HOUSE) == (Draft(), False), each


RUN = shown("journey", text="The old king sat on his [MASK].")  # it says “side”


@pytest.mark.parametrize(
    ("say", "options", "answer", "doubt"),
    [
        ("It says {says}.", ("a throne", "a horse"), 0, "The network says “side” here, and not"),
        ("It says {says}.", ("a throne", "a side"), 1, ""),
        ("It says {says}.", ("yes", "no"), 0, ""),
        ("It says {says}.", ("one of these", "throne"), 1, ""),
        ("It says {says}.", ("a throne", "a horse"), NO_ANSWER, ""),
        ("Kings sit.", ("a throne", "a horse"), 0, ""),
    ],
)
def test_the_author_hears_that_the_network_says_another_word(
    say: str, options: tuple[str, ...], answer: int, doubt: str
) -> None:
    scene = Scene("A king", RUN.state, say, question=Question("On what?", options, answer))
    told = other_word(scene, run_of_scene(scene))
    assert told.startswith(doubt)
    assert bool(told) == bool(doubt)
    assert other_word(scene, None) == ""
