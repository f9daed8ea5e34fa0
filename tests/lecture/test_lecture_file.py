"""A lecture as a file with all its pictures, and as a worksheet for paper."""

import re
from html import unescape

import pytest

import ffnviz
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.export.document import LARGEST, TooLargeError
from ffnviz.export.live.packing import NotForALivePageError
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.html_file import SHOWN, STILL, lecture_html
from ffnviz.lecture.lecture import Lecture, read_lecture
from ffnviz.lecture.worksheet import worksheet_html
from ffnviz.pictures.wording import percent
from tests.export.opened import contents, markup
from tests.lecture.lecture_runs import catalog, run_of_scene, said, scene_text
from tests.lecture.lecture_runs import lecture as built_in

TEXT = "It cost forty [MASK]."
FILE = "".join(
    [
        'title = "A <b>title</b>"\n',
        scene_text(
            {"page": "journey", "text": TEXT},
            title="On the Journey",
            say="It says {says}, {says_share}; without the FFN {without_ffn}.",
            look="maps",
            notes="Of {tokens} tokens.",
        ),
        scene_text(
            {"page": "neurons", "part": "switch", "text": TEXT, "neuron": "relu-3", "off": "2:3"},
            ("Of {d_ff}?", "Yes", "</script><b>No</b>", "2"),
            title="A chart that is measured",
            say="{says_share_without_neuron}",
            look="switched",
        ),
        scene_text(
            {"page": "lab", "part": "linear", "text": TEXT},
            title="All pictures of a part",
            say="Look around.",
        ),
        scene_text(
            {"page": "exercises", "part": "predict", "text": TEXT},
            title="What no file can show",
            say="{tokens} tokens.",
            look="vote",
        ),
    ]
)


@pytest.fixture(scope="module")
def lecture() -> Lecture:
    return read_lecture(FILE, catalog(), FACTS)


def test_a_lecture_is_a_file_with_pictures_and_numbers(lecture: Lecture) -> None:
    html = lecture_html(lecture, catalog())
    assert len(html.encode()) < LARGEST
    # what an old browser is told, data, plotly.js, ours
    assert markup(html).tags.count("script") == 4
    header, arrays = contents(html)
    journey, chart, several, none = header["scenes"]
    model = ffnviz.load("relu")
    trace = model.trace(TEXT)
    token = trace.ids.tolist().index(model.tokenizer.mask_id)
    told, without = predict(model, trace, token), predict_without_ffn(model, trace, 1, token)
    said = "".join(text for text, _ in journey["say"])
    assert said == (
        f"It says “{told.words[0]}”, {percent(float(told.probabilities[0]))}; "
        f"without the FFN “{without.words[0]}”."
    )
    assert journey["notes"][1][0] == str(len(trace.tokens))
    assert journey["journey"] == 0
    assert journey["start"]["token"] == token
    assert arrays["j0 gelu 1 hidden"].shape == (len(trace.tokens), 2_048)
    assert [each["name"] for each in chart["pictures"]] == ["bars"]
    assert chart["question"]["options"][1] == "</script><b>No</b>"
    assert chart["question"]["ask"][1] == ["2,048", "number"]
    assert len(several["pictures"]) > 1
    assert {each["name"] for each in several["pictures"]} <= SHOWN
    assert none["pictures"] == []
    assert f"notes/{chart['look']}.html" in header["files"]


def test_without_room_the_journey_stands_still_and_says_it(lecture: Lecture) -> None:
    one = Lecture("One", lecture.scenes[:1])
    html = lecture_html(one, catalog(), largest=250_000)
    header, _ = contents(html)
    assert header["says"][0] == STILL
    assert [each["name"] for each in header["scenes"][0]["pictures"]] == ["activation_map"]
    with pytest.raises(TooLargeError, match="Take fewer scenes"):
        lecture_html(one, catalog(), largest=50_000)


def test_a_lecture_without_the_first_page_has_no_use_for_the_networks(lecture: Lecture) -> None:
    first, *others = lecture.scenes
    assert first.state.page == "journey"
    with pytest.raises(NotForALivePageError, match="No scene of this lecture shows the first page"):
        lecture_html(Lecture("Without", tuple(others[-1:])), catalog(), live=True)


COURSE = built_in("course")
TAG = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def sheets() -> tuple[str, str]:
    task, solutions = worksheet_html(COURSE, catalog()).split('<section class="new">')
    return task, solutions


def sheets_of(scene: str) -> str:
    written = f'title = "<b>Title</b>"\n{scene}'
    return worksheet_html(read_lecture(written, catalog(), FACTS), catalog())


def items(sheet: str) -> list[str]:
    return [unescape(TAG.sub("", item)) for item in re.findall(r"<li>(.*?)</li>", sheet)]


def test_what_is_asked_is_answered_on_the_solutions_alone(sheets: tuple[str, str]) -> None:
    task, solutions = sheets
    asked = [scene for scene in COURSE.scenes if scene.question is not None]
    assert "☒" not in task
    assert solutions.count("☒") == len(asked)
    for scene, item in zip(asked, items(solutions), strict=False):
        assert scene.question is not None
        assert f"☒ {scene.question.options[scene.question.answer]}" in item
    solved = {item.split(". ")[0]: item for item in items(solutions)}
    compared = 0
    for scene in COURSE.scenes:
        if scene.title in solved:
            words = said(scene.say, run_of_scene(scene))
            assert solved[scene.title] == f"{scene.title}. {words}"
            compared += 1
    assert compared >= 8
    numbers = len(re.findall(r"<b>", solutions)) - compared
    assert task.count('class="gap"') == numbers > 20


def test_what_no_one_could_guess_is_printed_and_what_was_typed_is_text() -> None:
    told = "It responds to {neuron_meaning}, at {neuron_examples}, on {awake}."
    view = {"page": "journey", "text": "He ran.", "neuron": "relu-1"}
    html = sheets_of(scene_text(view, title="What does it respond to?", say=told))
    begins = "What does it respond to? It responds to nothing that has a name, at "
    asked, solved = items(html)
    assert asked.startswith(begins)
    assert solved.startswith(begins)
    assert "<p></p>" not in html

    html = sheets_of(
        scene_text(
            {"page": "journey", "text": "<script>alert(1)</script>"},
            ("<u>{sentence}</u>?", "<a>", "b", "1"),
            title="<i>one</i>",
            say="<img src=x> {awake} of {d_ff} & more",
        )
    )
    for tag in ("<img", "<script", "<i>", "<u>", "<a>"):
        assert tag not in html
    assert "&lt;img src=x&gt;" in html
    assert "&lt;script&gt;" in html
