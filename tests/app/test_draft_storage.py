"""A lecture of one's own as the browser keeps it: half done or whole, and whatever comes back."""

import json

import pytest

from ffnviz.app.lecture.draft import read_draft, written_draft
from ffnviz.lecture.lecture import LENGTHS, MOST_SCENES, Draft, Question, Scene
from ffnviz.state.state import State, from_url
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


def test_nothing_is_kept_of_an_empty_one() -> None:
    assert written_draft(Draft("A title"), HOUSE) == ""
    assert read_draft("", HOUSE) == (Draft(), False)


def test_numbers_of_scenes_stay_their_own_after_one_was_removed() -> None:
    draft = made(*(Scene(str(n), view(), "S") for n in range(3))).without(2).moved(3, -1)
    back, _ = read_draft(written_draft(draft, HOUSE), HOUSE)
    assert [each.scene.title for each in back.views] == ["2", "0"]
    assert len({each.number for each in back.added(Scene("3", view(), "S")).views}) == 3


THUMBNAIL = "data:image/jpeg;base64,/9j/AA=="


def test_a_scene_goes_to_any_place() -> None:
    draft = made(*(Scene(str(n), view(), "S") for n in range(4)))

    def titles(moved: Draft) -> str:
        return "".join(each.scene.title for each in moved.views)

    assert titles(draft.moved(1, 3)) == "1230"
    assert titles(draft.moved(4, -3)) == "3012"
    assert titles(draft.moved(2, 1)) == "0213"
    assert draft.moved(1, 4) == draft.moved(1, -1) == draft.moved(9, 1) == draft


def test_a_small_picture_is_kept_with_its_scene_and_goes_with_it() -> None:
    scene = Scene("0", view(), "S")
    draft = Draft("A title").added(scene).added(scene, [], THUMBNAIL)
    back, _ = read_draft(written_draft(draft, HOUSE), HOUSE)
    assert back == draft
    assert [(each.number, each.thumbnail) for each in back.views] == [(1, ""), (2, THUMBNAIL)]
    assert [(each.number, each.thumbnail) for each in back.without(2).views] == [(1, "")]


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


SCENE = {"title": "T", "say": "S", "page": "neurons", "view": {}}


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


@pytest.mark.parametrize(
    "changed",
    [
        {"page": 3}, {"title": 3}, {"say": None}, {"view": {"text": 3}}, {"short": "yes"},
        {"options": "abc"}, {"options": [3, None, "o"]}, {"options": ["o"], "answer": -2},
        *({name: "x" * (LENGTHS[name] + 1)} for name in ("title", "say", "notes", "look", "ask")),
    ],
)  # fmt: skip
def test_what_the_page_cannot_have_kept_is_no_draft(changed: dict[str, object]) -> None:
    assert read_draft(json.dumps({"scenes": [SCENE | changed]}), HOUSE) == (Draft(), False)


@pytest.mark.parametrize(
    "changed", [{"minutes": True}, {"title": 3}, {"scenes": [SCENE] * (MOST_SCENES + 1)}]
)
def test_a_lecture_that_the_page_cannot_have_kept_is_no_draft(changed: dict[str, object]) -> None:
    sent = {"title": "T", "scenes": [SCENE]}
    assert len(read_draft(json.dumps(sent), HOUSE)[0].views) == 1
    assert read_draft(json.dumps(sent | changed), HOUSE) == (Draft(), False)
