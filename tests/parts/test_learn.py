"""Learn's sheets, of trainings of a few steps."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ffnviz.analysis.lab import trained
from ffnviz.export.runs import cells_shown
from ffnviz.jobs.learning import Learned, Moment, Reading, labels_of
from ffnviz.models.config import config, use
from ffnviz.parts import PAGES
from ffnviz.parts.learn import bet, train
from ffnviz.parts.learn.bet import FILE
from ffnviz.parts.learn.moments import Course, Status, watched
from ffnviz.parts.sheet import Measured, cells_of
from ffnviz.pictures.cell import Cell
from ffnviz.state.run import Run
from ffnviz.state.settings import Values
from ffnviz.training.learn.learner import Learner, Plan, guessing_by_frequency
from tests.analysis.trainings.rows import ROW
from tests.lecture.lecture_runs import catalog
from tests.parts.sheets import drawn, words

TEXT = "She opened the [MASK] and looked out."


@pytest.fixture(scope="module")
def moments() -> Sequence[Moment]:
    learners = [Learner(Plan(name, TEXT, 20)) for name in ("relu", "gelu")]
    return tuple(zip(*(learner.learn() for learner in learners), strict=True))


@pytest.fixture(scope="module")
def run() -> Run:
    return drawn("learn", text=TEXT).run


def course(moments: Sequence[Moment], status: Status = Status.RUNS, **more: Any) -> Course:
    reading = Reading(guessing_by_frequency(), 81_000, 500, labels_of(""))
    networks = tuple(record.name for record in moments[0]) if moments else ()
    return Course(status, moments, reading, "", 20, networks=networks, **more)


def cells(part: Any, run: Run, course: Course, **settings: str) -> dict[str, Cell]:
    (measurement,) = part.sheet(run, Values(settings)).rows
    rows = measurement.after(Measured((), course, "", ""))
    return {cell.key: cell for cell in cells_of(rows)}


def test_before_it_begins_there_is_one_button_unless_nothing_is_trained(run: Run) -> None:
    found = cells(train, run, Course(Status.NEW))
    assert set(found) == {"learn-bar", "learn-invitation"}
    assert found["learn-bar"].data["label"] == "Train"
    assert not found["learn-bar"].data["why_not"]
    assert found["learn-bar"].events["ask"]("train")[:3] == ("train", "learn", "train")
    assert found["learn-bar"].events["ask"]("format the disk") is None
    use(replace(config(), train_minutes=0.0))
    assert "--train-minutes 0" in cells(train, run, Course(Status.NEW))["learn-bar"].data["why_not"]


def test_while_it_learns_the_last_moment_is_shown_and_the_slider_goes_back(
    run: Run, moments: Sequence[Moment]
) -> None:
    found = cells(train, run, course(moments))
    last = moments[-1][0]
    assert found["learn-words"].data["panels"][0]["names"] == list(last.words)
    assert "step 20 of 20" in found["learn-bar"].data["said"]
    assert found["learn-map"].arrays["learn.hidden"].shape == (len(last.tokens), 256)
    assert found["learn-map"].data["maps"][0]["texts"][last.tokens.index("[MASK]")] == "___"
    found = cells(train, run, course(moments), learn_at="1")
    assert found["learn-words"].data["panels"][0]["names"] == list(moments[1][0].words)
    move = found["learn-bar"].events["move"]
    assert move(0).settings == {"learn_at": "0"}
    assert move(len(moments) - 1).settings == {"learn_at": None}
    assert move(len(moments)) is None
    assert cells(train, run, course(moments), learn_at="9999")["learn-bar"].data["at"] == 2
    learned = Learned(b"", ended=True, spent=False, folders=b"PK a file")
    bar = cells(train, run, course(moments, Status.ENDED, learned=learned))["learn-bar"]
    assert bar.arrays["file"].tobytes() == b"PK a file"


def test_one_neuron_is_followed_with_what_activates_it_and_how_its_key_turns(
    run: Run, moments: Sequence[Moment]
) -> None:
    found = cells(train, run, course(moments), learn_neuron="7", learn_beside="neuron")
    last = moments[-1][0].neurons
    assert last is not None
    block = run.state.block
    entries = labels_of("")
    labels = [entries[id_] for id_ in last.strongest[block, 7]]
    named = ", ".join(f"“{label}”" for label in labels)
    assert f"Neuron {block + 1}:7 is strongest on {named};" in words(found["learn-key"])
    assert f"Neuron {block + 1}:7 " in words(found["learn-map"])
    turned = found["learn-key"].arrays.values()
    assert any(values[0] == 1 and values[-1] == last.turned[block, 7] for values in turned)
    before = cells(
        train, run, course(moments), learn_neuron="7", learn_beside="neuron", learn_at="0"
    )
    assert "turned by 0°" in words(before["learn-key"])


def test_a_bet_comes_first_and_one_run_decides_nothing(run: Run, moments: Sequence[Moment]) -> None:
    assert cells(bet, run, Course(Status.NEW))["bet-bar"].data["why_not"]
    assert not cells(bet, run, Course(Status.NEW), my_bet="same")["bet-bar"].data["why_not"]
    assert "bet-verdict" not in cells(bet, run, course(moments))
    found = cells(bet, run, course(moments, Status.ENDED), my_bet="same")
    assert "One run cannot decide it" in words(found["bet-verdict"])
    losses = [record.held_out.loss for record in moments[-1]]
    apart = abs(losses[0] - losses[1])
    placed = found["bet-placed"].data
    assert (placed["bet"], placed["begun"]) == (2, True)
    better = 2 if apart < bet.ALIKE else int(losses[1] < losses[0])
    assert placed["outcome"] == better
    assert found["bet-placed"].events["bet"](1).settings == {"my_bet": "second"}
    assert found["bet-placed"].events["bet"](3) is None
    other = cells(bet, run, course(moments, Status.ENDED), against="no-ffn")["bet-placed"].data
    assert (other["begun"], other["outcome"]) == (False, None)  # these two were not trained
    assert other["scene"] != placed["scene"], "a class bets on each anew"


def test_one_word_of_any_sentence_is_watched_with_what_stands_around_it() -> None:
    typed = ("What [mask] is it?", "It cost forty pounds.", "[MASK] and [MASK]", "?!")
    hidden = ["What [MASK] is it?", "It cost forty [MASK].", "[MASK] and [MASK]", "?[MASK]"]
    assert [watched(drawn("learn", text=text).run) for text in typed] == hidden
    text = watched(drawn("learn", text=f"{'so ' * 60}it was a [MASK] {'day ' * 20}").run)
    assert text.count("so") < 12
    assert "it was a [MASK] day" in text


def test_a_bet_hears_many_seeds(moments: Sequence[Moment], monkeypatch: pytest.MonkeyPatch) -> None:
    def said(seeds: int, more: float) -> str:
        rows = [replace(ROW, variant=name, seed=seed, loss=2.5 + 1e-4 * seed * (name == "gelu")
                        + more * (name == "gelu"))
                for name in ("relu", "gelu") for seed in range(seeds)]  # fmt: skip
        monkeypatch.setattr(trained, "trainings", lambda: tuple(rows))
        return words(bet.decided(course(moments, Status.ENDED)))

    assert "GELU has not been trained from many seeds yet" in said(0, 0)
    assert "5 of 8 seeds done, too few to decide" in said(5, 0.1)
    assert "GELU: the loss is 0.100 nats higher than with the usual network" in said(8, 0.1)
    assert "perhaps by chance" in said(8, -0.00035)


def test_a_file_replays_the_recorded_bet(run: Run) -> None:
    told = json.loads(FILE.read_text(encoding="utf-8"))
    state = replace(run.state, part="train", settings=(("train_view", "bet"),))
    part = next(page for page in PAGES if page.name == "learn").part("train")
    found = {cell.key: cell for cell in cells_shown(part, state, lambda _: run, catalog())}
    moments = found["bet-words"].data["moments"]
    for name, panel in (("relu", 0), ("gelu", 1)):
        for moment, record in zip(moments, told["networks"][name], strict=True):
            shown = moment["panels"][panel]
            assert dict(zip(shown["names"], shown["values"], strict=True)) == record["words"]
            assert f"{record['loss']:.2f}" in moment["said"]
    assert "bet-decided" in found
