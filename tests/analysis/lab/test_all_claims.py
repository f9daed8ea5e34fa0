"""All experiments: in one go, on any sentence, on encoders of any shape, for many at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.analysis.lab import EXPERIMENTS, fitting, try_all
from ffnviz.analysis.lab.experiment import Experiment, Finding, Result, Said, Subject, Verdict
from ffnviz.analysis.lab.fitting import FUNCTIONS, approximate
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.residual import try_residual
from ffnviz.analysis.lab.trained import QUESTIONS
from ffnviz.analysis.needs import Capability
from ffnviz.analysis.timing.growth import grow_with_length, grow_with_width
from ffnviz.analysis.timing.stages import throughput
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.lab import PARTS
from ffnviz.parts.places import MOVED
from tests.analysis.lab.broken import bits, subject
from tests.analysis.networks import network


def test_every_experiment_has_a_part_of_its_name_and_every_part_an_experiment() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(EXPERIMENTS) == 12
    elsewhere = [name for name in names if ("lab", name) in MOVED]
    assert [part.name for part in PARTS] == ["claims", *(n for n in names if n not in elsewhere)]


def test_all_claims_in_one_go(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)
    told: list[float] = []
    tested = try_all(subject(model_folder), told.append)
    assert told == sorted(told), "the bar only moves forward"
    assert (told[0], told[-1]) == (0, 1)
    assert [each.experiment for each in tested] == list(EXPERIMENTS)
    findings = [finding for each in tested for finding in each.findings]
    assert len({finding.claim for finding in findings}) == len(findings)
    for finding in findings:
        assert finding.claim.endswith(".")
        assert finding.expected
        assert finding.measured
        assert "nan" not in finding.measured
        assert bool(finding.source) is (finding.said is Said.TEXTBOOKS), finding.claim
    asked = [each for each in QUESTIONS if each.claim]
    assert all(bool(each.source) is (each.said is Said.TEXTBOOKS) for each in asked)


def findings_of(tried: Subject) -> list[Finding]:
    """Of all experiments but the fit, which does not look at the sentence."""
    sentence = [experiment for experiment in EXPERIMENTS if experiment.name != "fit"]
    return [finding for each in sentence for finding in quickly(each, tried).findings]


@settings(max_examples=2)
@given(text=st.text(min_size=1, max_size=60), place=st.integers(0, 10**6))
def test_any_sentence_gets_verdicts(model_folder: Path, text: str, place: int) -> None:
    model = load(model_folder)
    trace = model.trace(text)
    tried = Subject(model, trace, 1, place % len(trace.tokens))
    for finding in findings_of(tried):
        assert finding.verdict in Verdict
        # Nothing that was typed is in a finding: the pages need not guard against it.
        assert finding.untestable == "" or finding.verdict is Verdict.UNDECIDED


def test_one_token_says_what_it_cannot_tell(model_folder: Path) -> None:
    one = subject(model_folder, text="the")
    assert len(one.trace.tokens) == 1
    undecided = [f for f in findings_of(one) if f.verdict is Verdict.UNDECIDED]
    assert undecided
    for finding in undecided:
        assert finding.verdict_text.startswith("cannot be decided here: ")


VISITORS = 2
SLOW = ("fit", "residual")  # which hardly look at the network: tested elsewhere
SHAPES = ("one block", "no biases", "post-LN", "causal", "gated")
HOLD = (  # claims that are true of any plain FFN, whatever surrounds it
    "FFN: changing one token's input",
    "Equal inputs at different positions",
    "The FFN is two convolutions",
    "Without φ, W₁ and W₂ fold",
    "Without φ the hidden layer has at most",
    "A stack of linear layers",
    "Without φ the FFN is linear",
    "The FFN is not linear",
    "FFN: an output depends on its own input",
    "A neuron set to zero",
)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_experiment_tells_the_truth_or_says_why_not(shape: str, tokenizer: Tokenizer) -> None:
    model = network(shape, tokenizer)
    tried = Subject(model, model.trace("The cat sat on the mat, and the dog sat."), 0, 3)
    gated, held = model.card.gated, []
    for experiment in EXPERIMENTS:
        if experiment.name in SLOW:
            continue
        if gated and Capability.PLAIN_FFN in experiment.needs:
            with pytest.raises(NotForThisNetwork, match="gated"):
                experiment.measure(tried, lambda _: None)
            continue
        for finding in experiment.measure(tried, lambda _: None).findings:
            if finding.claim.startswith(HOLD):
                assert finding.verdict is Verdict.HOLDS, (finding.claim, finding.measured)
                held.append(finding.claim)
    assert len(held) == (1 if gated else len(HOLD))
    if gated:
        with pytest.raises(ValueError, match="GEGLU is gated"):
            try_all(tried)


def test_a_stranger_is_not_taken_apart(tokenizer: Tokenizer) -> None:
    stranger = network("stranger", tokenizer)
    with pytest.raises(NotForThisNetwork, match="own modules"):
        Subject(stranger, stranger.trace("The cat."), 0, 0).own  # noqa: B018


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


def test_many_at_once_get_what_one_gets(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)
    tried, kept = subject(model_folder), dict[str, Any]()

    def keep(name: str, compute: Callable[[], Any]) -> Any:
        if name not in kept:
            kept[name] = compute()
        return kept[name]

    together, chance = replace(tried, per_network=keep), torch.get_rng_state()
    alone = {each.name: bits(quickly(each, tried)) for each in EXPERIMENTS}
    for experiment in EXPERIMENTS:
        for found in at_once(partial(quickly, experiment, tried)):
            assert bits(found) == alone[experiment.name], experiment.name
    # Nor does it matter what of the network another experiment has computed.
    for experiment in (*EXPERIMENTS, *reversed(EXPERIMENTS)):
        assert bits(quickly(experiment, together)) == alone[experiment.name], experiment.name
    assert any(isinstance(each, Block) for each in kept.values())
    grow_with_length(tried.ours, 0, 1)
    grow_with_width(tried.ours, 1)
    throughput(tried.ours, tried.trace, 0, 1)
    assert torch.equal(torch.get_rng_state(), chance), "the chance of the process is not touched"


def test_many_at_once_make_the_same_initial_encoder(tiny_config: EncoderConfig) -> None:
    alone = bits(dict(initial_encoder(tiny_config, 7).state_dict()))
    for found in at_once(partial(initial_encoder, tiny_config, 7)):
        assert bits(dict(found.state_dict())) == alone
