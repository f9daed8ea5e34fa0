"""The exercises' sheets: what a link asks for, and what a click asks for."""

import pytest

from ffnviz.parts import PAGES
from ffnviz.parts.exercises import build, predict
from ffnviz.parts.exercises.build import BUGS, RIGHT
from ffnviz.parts.exercises.by_hand import TYPED, answers, name_of, solutions, worksheets
from ffnviz.parts.exercises.predict import QUESTIONS
from ffnviz.state.actions import OpenPage, Set
from tests.parts.sheets import Drawn, drawn


def test_a_gap_takes_numbers_only_and_they_belong_to_one_exercise() -> None:
    name = name_of("numbers", 3)
    typed = TYPED.parse(f"{name}_4_-2.5_<b>_−3")
    assert list(answers(typed, name)) == ["4", "-2.5", "", "-3"]
    assert list(answers(typed, name_of("numbers", 4))) == []
    cell = drawn("exercises", "hand", hand_seed="3").cells["by-hand"]
    action = cell.events["type"](["<script>", "1e9", *[""] * 6])
    assert isinstance(action, Set)
    assert action.settings["typed"] == f"{name_of('numbers', 3)}__19______"
    for nonsense in (None, ["1"], [1] * 8, "12345678", {"a": 1}):
        assert cell.events["type"](nonsense) is None

    cell = drawn("exercises", "hand", hand_view="back", hand_seed="3").cells["by-hand"]
    gaps = [gap["name"] for step in cell.data["steps"] for gap in step["gaps"]]
    assert len(gaps) == 11
    assert cell.events["another"](None) == Set({"hand_seed": "4"})
    action = cell.events["type"](["1"] * 11)
    assert isinstance(action, Set)
    kept = f"{name_of('back', 3)}{'_1' * 11}"
    assert action.settings["typed"] == kept
    shown = drawn("exercises", "hand", hand_view="back", hand_seed="3", typed=kept)
    assert shown.cells["by-hand"].data["typed"] == ["1"] * 11


def test_sheets_on_paper_have_every_seed_and_its_solution() -> None:
    page, solved = worksheets(range(3, 6)), solutions(range(3, 6))
    for seed in range(3, 6):
        assert f"Exercise {seed}." in page
        assert f"Exercise {seed}<" in solved
    assert page.count("<section>") == 3
    assert "size: A4" in page
    assert " = " in solved


def test_moving_a_line_gives_the_next_order_and_before_there_is_no_fault() -> None:
    shown = drawn("exercises", "build")
    assert "Drag the 13 lines into an order" in shown.said
    assert not any(line["fault"] for line in shown.cells["program"].data["lines"])

    shown = drawn("exercises", "build", lines="abcdefghijlkm")
    move = shown.cells["program"].events["order"]
    action = move(list(RIGHT))
    assert isinstance(action, Set)
    assert action.settings == {"lines": RIGHT}
    for nonsense in (None, {"from": 0}, [*RIGHT, "a"], ["import os"] * 13, [1] * 13, RIGHT):
        assert move(nonsense) is None
    assert "another block" in shown.said
    assert "the network's own block: x is off by 0" in drawn("exercises", "build", lines=RIGHT).said

    assert sorted(build.PATIENTS) == sorted(BUGS)


@pytest.mark.parametrize("patient", range(1, 11))
def test_each_bug_is_told_when_it_is_found(patient: int) -> None:
    bug = BUGS[build.PATIENTS[patient - 1]]

    def shown(guess: str) -> Drawn:
        where = {"block_view": "find", "patient": str(patient), "diagnosis": guess}
        return drawn("exercises", "build", True, **where)

    found = shown(bug.name)
    assert "Right." in found.said
    assert bug.tells in found.said
    line = found.cells["program"].data["lines"][RIGHT.index(bug.line)]
    column = found.cells["program"].data["columns"].index(bug.column)
    assert line["values"][column]["real"] != ""
    other = next(each for each in BUGS.values() if each is not bug)
    wrong = shown(other.name)
    assert "Not that one." in wrong.said
    assert bug.tells not in wrong.said
    # Neither the words nor the code say which it is before somebody has guessed.
    before = shown("open")
    assert bug.tells not in before.said


def test_nothing_is_told_before_the_vote_which_leads_on_and_stands_in_the_link() -> None:
    for question in QUESTIONS:
        cell = drawn("exercises", "predict", misconception=question.name).cells["vote"]
        assert cell.data["experiment"] is None
        assert cell.data["answers"] == [None] * len(QUESTIONS)
        assert cell.data["why"] == ""

    cell = drawn("exercises", "predict", misconception="phi").cells["vote"]
    action = cell.events["vote"]({"round": 0, "option": 2})
    assert isinstance(action, Set)
    votes = action.settings["votes"]
    assert votes is not None
    assert votes[4:6] == "2-"
    assert action.settings["vote_step"] == "see"
    for nonsense in (None, {"round": 2, "option": 0}, {"round": 0, "option": 3}, 4):
        assert cell.events["vote"](nonsense) is None
    assert cell.events["lead"](True) == OpenPage("lab", "bend")

    titles = {page.name: page.title for page in PAGES}
    for name, title in titles.items():
        assert predict.TITLES.get(name, name.capitalize()) == title


def test_the_right_option_stands_where_the_answer_says() -> None:
    """Options are turned: the first, second and last are right about equally often."""
    right = []
    for at, question in enumerate(QUESTIONS):
        shown = drawn("exercises", "predict", misconception=question.name, vote_step="why")
        data = shown.cells["vote"].data
        answer = data["answers"][at]
        found = predict.tried(shown.run, question)
        assert not isinstance(found, str)
        assert data["options"][answer] == question.options[found.answer]
        right.append(answer)
    assert all(right.count(place) >= 3 for place in range(3))
