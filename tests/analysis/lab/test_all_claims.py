"""All experiments in one go, on any sentence."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Finding, Said, Subject, Verdict
from ffnviz.analysis.lab.trained import QUESTIONS
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.parts.lab import PARTS
from ffnviz.parts.places import MOVED
from tests.analysis.lab.broken import subject


def test_every_experiment_has_a_part_of_its_name_and_every_part_an_experiment() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(EXPERIMENTS) == 12
    elsewhere = [name for name in names if ("lab", name) in MOVED]
    assert [part.name for part in PARTS] == ["claims", *(n for n in names if n not in elsewhere)]


def test_all_claims_are_tested_and_the_bar_only_moves_forward(model_folder: Path) -> None:
    told: list[float] = []
    tested = try_all(subject(model_folder), told.append)
    assert told == sorted(told)
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
    """Of all experiments but the fit, which does not look at the sentence and takes longest."""
    sentence = [experiment for experiment in EXPERIMENTS if experiment.name != "fit"]
    return [f for each in sentence for f in each.measure(tried, lambda _: None).findings]


@settings(max_examples=5)
@given(text=st.text(min_size=1, max_size=60), place=st.integers(0, 10**6))
def test_any_sentence_gets_verdicts(model_folder: Path, text: str, place: int) -> None:
    model = load(model_folder)
    trace = model.trace(text)
    tried = Subject(model, trace, 1, place % len(trace.tokens))
    for finding in findings_of(tried):
        assert finding.verdict in Verdict
        # Nothing that was typed is in a finding: the pages need not guard against it.
        assert finding.untestable == "" or finding.verdict is Verdict.UNDECIDED


def test_a_gated_model_is_refused_in_words(model_folder: Path) -> None:
    plain = load(model_folder)
    config = replace(plain.encoder.config, activation="geglu")
    gated = Model("gated", initial_encoder(config, 1).eval(), plain.tokenizer, plain.token_counts)
    trace = gated.trace("The cat.")
    with pytest.raises(ValueError, match="GEGLU is gated"):
        try_all(Subject(gated, trace, 0, 0))


def test_one_token_says_what_it_cannot_tell(model_folder: Path) -> None:
    one = subject(model_folder, text="the")
    assert len(one.trace.tokens) == 1
    undecided = [f for f in findings_of(one) if f.verdict is Verdict.UNDECIDED]
    assert undecided
    for finding in undecided:
        assert finding.verdict_text.startswith("cannot be decided here: ")
