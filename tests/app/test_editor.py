"""What the form of a scene says of a question."""

import pytest

from ffnviz.app.lecture.editor import other_word
from ffnviz.lecture.lecture import NO_ANSWER, Question, Scene
from tests.lecture.lecture_runs import run_of_scene, shown

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
