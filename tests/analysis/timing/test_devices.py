"""CPU and GPU beside each other: which runs are made, and with how many threads."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ffnviz.analysis.timing.stages import StageTimes, time_stages
from ffnviz.models.encoder.model import Model, load
from ffnviz.parts.timing import stages
from tests.run_factory import run_of


def test_one_core_all_cores_and_the_gpu_each_have_their_run(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(model_folder)
    # A second network on the CPU stands for the GPU.
    run = replace(
        run_of(model, "The cat sat."), devices={"cpu": lambda: model, "cuda": copy_of(model)}
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    seen: list[tuple[Model, int]] = []
    measure = time_stages

    def watched(traced: Model, *given: object) -> StageTimes:
        seen.append((traced, torch.get_num_threads()))
        return measure(traced, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(stages, "time_stages", watched)
    before, told = torch.get_num_threads(), list[float]()
    found = stages.both(run, told.append, 2)
    assert list(found) == ["CPU, 1 core", "CPU, all 2 cores", "GPU"]
    assert [n for _, n in seen] == [1, 2, 1]
    assert [traced is model for traced, _ in seen] == [True, True, False]
    assert torch.get_num_threads() == before
    assert told == sorted(told)
    assert told[-1] == 1


def copy_of(model: Model) -> Callable[[], Model]:
    other = replace(model)
    return lambda: other


def test_threads_are_given_back_when_a_measurement_fails() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ConnectionError), stages.threads(before + 1):
        raise ConnectionError
    assert torch.get_num_threads() == before
