"""A worksheet: questions unanswered, sentences without their numbers, and the solutions apart."""

import re
from html import unescape

import pytest

from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.lecture import read_lecture
from ffnviz.lecture.worksheet import worksheet_html
from tests.lecture.lecture_runs import catalog, lecture, run_of_scene, said, scene_text

TAG = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def sheets() -> tuple[str, str]:
    html = worksheet_html(lecture("course"), catalog())
    task, solutions = html.split('<section class="new">')
    return task, solutions


def sheets_of(scene: str) -> str:
    written = f'title = "<b>Title</b>"\n{scene}'
    return worksheet_html(read_lecture(written, catalog(), FACTS), catalog())


def items(sheet: str) -> list[str]:
    return [unescape(TAG.sub("", item)) for item in re.findall(r"<li>(.*?)</li>", sheet)]


def test_what_is_asked_is_not_answered_on_the_same_sheet(sheets: tuple[str, str]) -> None:
    task, solutions = sheets
    asked = [scene for scene in lecture("course").scenes if scene.question is not None]
    assert "☒" not in task
    assert solutions.count("☒") == len(asked)
    for scene, solved in zip(asked, items(solutions), strict=False):
        assert scene.question is not None
        assert f"☒ {scene.question.options[scene.question.answer]}" in solved


def test_gaps_are_where_the_solutions_have_what_is_computed(sheets: tuple[str, str]) -> None:
    task, solutions = sheets
    solved = {item.split(". ")[0]: item for item in items(solutions)}
    compared = 0
    for scene in lecture("course").scenes:
        if scene.title in solved:
            words = said(scene.say, run_of_scene(scene))
            assert solved[scene.title] == f"{scene.title}. {words}"
            compared += 1
    assert compared >= 8
    numbers = len(re.findall(r"<b>", solutions)) - compared
    assert task.count('class="gap"') == numbers > 20


def test_what_no_one_could_guess_is_printed_and_a_title_that_asks_has_no_full_stop() -> None:
    told = "It responds to {neuron_meaning}, at {neuron_examples}, on {awake}."
    view = {"page": "journey", "text": "He ran.", "neuron": "relu-1"}
    html = sheets_of(scene_text(view, title="What does it respond to?", say=told))
    [asked, solved] = items(html)
    assert asked.startswith("What does it respond to? It responds to nothing that has a name, at ")
    assert solved.startswith("What does it respond to? It responds to nothing that has a name, at ")
    assert "<p></p>" not in html


def test_what_a_lecturer_typed_is_text() -> None:
    html = sheets_of(
        scene_text(
            {"page": "journey", "text": "<script>alert(1)</script>"},
            ("<u>{sentence}</u>?", "<a>", "b", "1"),
            title="<i>one</i>",
            say="<img src=x> {awake} of {d_ff} & more",
        )
    )
    for markup in ("<img", "<script", "<i>", "<u>", "<a>"):
        assert markup not in html
    assert "&lt;img src=x&gt;" in html
    assert "&lt;script&gt;" in html
