"""Eight visitors at once get what each gets alone, bit for bit: nobody draws what another drew."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch

from ffnviz.analysis.lab import EXPERIMENTS, fitting
from ffnviz.analysis.lab.experiment import Experiment, Result, Subject
from ffnviz.analysis.lab.fitting import FUNCTIONS, approximate
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.residual import try_residual
from ffnviz.analysis.timing.growth import grow_with_length, grow_with_width
from ffnviz.analysis.timing.throughput import throughput
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from tests.analysis.lab.bits import bits
from tests.analysis.lab.broken import subject

VISITORS = 8

R = TypeVar("R")


def at_once(work: Callable[[], R]) -> list[R]:
    """What each of the visitors gets, all of whom begin at the same moment."""
    start = threading.Barrier(VISITORS)

    def visit(_: int) -> R:
        start.wait()
        return work()

    with ThreadPoolExecutor(VISITORS) as visitors:
        return list(visitors.map(visit, range(VISITORS)))


def quickly(experiment: Experiment, tried: Subject) -> Result:
    """An experiment; those that take long with fewer layers or units, which go wrong as surely."""
    if experiment.name == "fit":
        return approximate(FUNCTIONS["wave"], "gelu", (1, 4))
    if experiment.name == "residual":
        return try_residual(tried, depth=2)
    if experiment.name == "hears":
        return input_influence(tried, length=4, depth=2)
    return experiment.measure(tried, lambda _: None)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_experiment_gives_eight_at_once_what_it_gives_one(
    model_folder: Path, experiment: Experiment
) -> None:
    tried = subject(model_folder)
    alone = bits(quickly(experiment, tried))
    assert all(one == alone for one in at_once(lambda: bits(quickly(experiment, tried))))


def test_experiments_that_share_the_block_in_float64_find_what_each_finds_alone(
    model_folder: Path,
) -> None:
    kept: dict[str, Any] = {}

    def keep(name: str, compute: Callable[[], Any]) -> Any:
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    alone = subject(model_folder)
    together = replace(alone, per_network=keep)
    for experiment in (*EXPERIMENTS, *reversed(EXPERIMENTS)):
        assert bits(quickly(experiment, together)) == bits(quickly(experiment, alone))
    assert any(isinstance(each, Block) for each in kept.values())


def test_eight_at_once_make_the_same_initial_encoder(tiny_config: EncoderConfig) -> None:
    alone = bits(dict(initial_encoder(tiny_config, 7).state_dict()))
    for one in at_once(lambda: bits(dict(initial_encoder(tiny_config, 7).state_dict()))):
        assert one == alone


def test_nothing_that_is_measured_touches_the_chance_of_the_process(model_folder: Path) -> None:
    tried = subject(model_folder)
    measures: dict[str, Callable[[], object]] = {
        experiment.name: partial(quickly, experiment, tried) for experiment in EXPERIMENTS
    }
    measures |= {
        "growth with length": lambda: grow_with_length(tried.ours, 0, 1),
        "growth with width": lambda: grow_with_width(tried.ours, 1),
        "throughput": lambda: throughput(tried.ours, tried.trace, 0, 1),
    }
    before = torch.get_rng_state()
    for name, measure in measures.items():
        measure()
        assert torch.equal(torch.get_rng_state(), before), name
