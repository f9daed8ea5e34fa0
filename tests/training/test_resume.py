"""A run that was interrupted, however often, ends where one in a single go would have ended."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.training import loop
from ffnviz.training.corpus import Corpus
from ffnviz.training.loop import CheckpointError, Progress, TrainingState, train
from ffnviz.training.masking import Recipe, validation_batches
from ffnviz.training.validation import validate

MASK_ID = 0
CPU = torch.device("cpu")


class InterruptedRunError(Exception):
    """Somebody pressed Ctrl-C."""


@pytest.fixture(autouse=True)
def _frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_STEPS", 2)


@dataclass(frozen=True)
class Run:
    """A training, from its checkpoint or from the start."""

    config: EncoderConfig
    recipe: Recipe
    corpus: Corpus
    checkpoint: Path
    steps: list[int] = field(default_factory=list)  # all that were told

    def __call__(self, stop_after: int = 0, begin_with: Encoder | None = None) -> TrainingState:
        def report(progress: Progress) -> None:
            self.steps.append(progress.step)
            if progress.step == stop_after:
                raise InterruptedRunError

        return train(
            self.config, self.recipe, self.corpus, MASK_ID, self.checkpoint, CPU, report, begin_with
        )

    def broken_off(self, stop_after: int, begin_with: Encoder | None = None) -> None:
        with pytest.raises(InterruptedRunError):
            self(stop_after, begin_with)


@pytest.fixture
def run(config: EncoderConfig, recipe: Recipe, corpus: Corpus, tmp_path: Path) -> Run:
    return Run(config, recipe, corpus, tmp_path / "relu.checkpoint")


def assert_same(one: TrainingState, other: TrainingState) -> None:
    """The same weights to the bit, and the same figures."""
    weights = other.encoder.state_dict()
    for name, tensor in one.encoder.state_dict().items():
        assert torch.equal(tensor, weights[name]), name
    assert one.points == other.points
    assert one.tokens == other.tokens


@pytest.fixture(scope="module")
def in_one_go(
    config: EncoderConfig, recipe: Recipe, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> TrainingState:
    return Run(config, recipe, corpus, tmp_path_factory.mktemp("one-go") / "checkpoint")()


# Steps 2, 4 and 6 have a checkpoint, and so has the last, 7; 1 has none yet.
@pytest.mark.parametrize("stops", [[1], [2], [7], [1, 3, 5, 6, 7]], ids=str)
def test_an_interrupted_run_ends_with_the_same_weights_and_figures(
    run: Run, in_one_go: TrainingState, stops: list[int]
) -> None:
    for stop in stops:
        torch.manual_seed(stop)  # a new process starts with another random state
        run.broken_off(stop)
    assert_same(run(), in_one_go)


def test_training_changes_all(
    config: EncoderConfig, recipe: Recipe, in_one_go: TrainingState
) -> None:
    # Without this, equal weights above would prove nothing.
    start = initial_encoder(config, recipe.seed).state_dict()
    for name, tensor in in_one_go.encoder.state_dict().items():
        assert not torch.equal(tensor, start[name]), name


def test_a_resumed_run_goes_on_and_a_finished_one_has_nothing_left_to_do(
    run: Run, in_one_go: TrainingState
) -> None:
    run.broken_off(5)
    run.steps.clear()
    run()
    assert run.steps == [5, 6, 7]
    run()
    assert_same(run(stop_after=7), in_one_go)


def test_an_interruption_while_writing_leaves_the_last_whole_checkpoint(
    run: Run, in_one_go: TrainingState, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.write
    calls = []

    def break_off(file: int, content: memoryview) -> int:
        calls.append(file)
        if len(calls) == 2:
            whole(file, content[:50])
            raise InterruptedRunError
        return whole(file, content)

    monkeypatch.setattr(os, "write", break_off)
    with pytest.raises(InterruptedRunError):
        run()
    assert list(run.checkpoint.parent.iterdir()) == [run.checkpoint]
    assert_same(run(), in_one_go)


def test_a_run_with_sentences_from_other_weights_is_resumed_likewise(
    run: Run, half_sentences: Recipe, both: Corpus, tmp_path: Path
) -> None:
    one, two = (
        replace(run, recipe=half_sentences, corpus=both, checkpoint=tmp_path / name)
        for name in ("one", "two")
    )
    start = initial_encoder(run.config, seed=77)
    in_one = one(begin_with=start)
    for stop in (3, 6):
        two.broken_off(stop, start)
    resumed = two(begin_with=start)
    assert_same(resumed, in_one)
    books = validation_batches(both.validation, half_sentences, MASK_ID, 32, 512)
    assert resumed.points[0]["loss"] == validate(start, books).loss
    with pytest.raises(CheckpointError, match="belongs to a run with another"):
        two()


@pytest.mark.parametrize("change", ["recipe", "config", "corpus", "sentences", "share"])
def test_the_checkpoint_of_another_run_is_refused(
    run: Run, both: Corpus, half_sentences: Recipe, change: str
) -> None:
    run.broken_off(2)
    others = {
        "recipe": replace(run, recipe=replace(run.recipe, mask_share=0.21)),
        "config": replace(run, config=replace(run.config, activation="gelu")),
        "corpus": replace(run, corpus=replace(run.corpus, validation=run.corpus.validation[1:])),
        "sentences": replace(run, corpus=both),
        "share": replace(run, recipe=half_sentences),
    }
    with pytest.raises(CheckpointError, match=r"relu\.checkpoint belongs to a run with another"):
        others[change]()


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"PK\x03\x04" + bytes(100),
        lambda _: [1, 2],
        lambda _: {},
        lambda saved: {**saved, "encoder": {}},
        lambda saved: {**saved, "optimiser": None},
        lambda saved: {key: saved[key] for key in saved if key != "points"},
    ],
    ids=["nothing", "half a file", "a list", "empty", "no weights", "no optimiser", "no points"],
)
def test_a_damaged_checkpoint_is_refused_by_name_with_what_to_do(run: Run, change: Any) -> None:
    run.broken_off(2)
    content = change(torch.load(run.checkpoint, weights_only=True))
    if isinstance(content, bytes):
        run.checkpoint.write_bytes(content)
    else:
        torch.save(content, run.checkpoint)
    with pytest.raises(CheckpointError) as caught:
        run()
    # PyTorch's own words would advise to read it in a way that runs code from the file.
    assert str(caught.value) == f"{run.checkpoint} is damaged. Remove it, and training begins anew."


def test_a_folder_in_place_of_the_checkpoint_is_refused_before_training(run: Run) -> None:
    run.checkpoint.mkdir()
    with pytest.raises(CheckpointError, match="checkpoint cannot be read: Is a directory"):
        run()
