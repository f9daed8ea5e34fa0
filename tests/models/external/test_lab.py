"""The Lab on networks of other people: what is about the FFN is tested, the rest says why not."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from numpy.testing import assert_allclose

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Subject, Verdict, ffn_in_double
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_convolution, try_positions, try_sharing
from ffnviz.analysis.lab.tolerances import ffn_bound
from ffnviz.analysis.lab.width import try_width
from ffnviz.analysis.needs import missing, word_head
from ffnviz.analysis.neurons.memory import written_ids
from ffnviz.cli.lab import lab
from ffnviz.models.edit import Edit
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.phi import RELU_SQUARED
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.token_slice import token_slice, words_among
from tests.models.external.folders import network_of, save

TEXT = "the cat sat on the mat"
OF_THE_FFN = {"positions", "sharing", "convolution", "linear", "fit", "width", "trained"}


def subject(network: ExternalNetwork, token: int = 2) -> Subject:
    return Subject(network, network.trace(TEXT), 1, token)


@pytest.mark.parametrize("family", ["GPT-2", "BERT", "OPT", "Falcon"])
def test_its_ffn_in_float64_is_the_networks_own(family: str) -> None:
    network = network_of(family)
    record = network.trace(TEXT).blocks[1].ffn
    told = ffn_in_double(network.ffn(1))(record.input.double())
    for name in ("pre_activation", "hidden", "output"):
        assert_allclose(getattr(told, name), getattr(record, name), atol=2e-5)


@pytest.mark.parametrize("family", ["GPT-2", "BERT"])
def test_claims_of_the_ffn_hold_or_fail_as_they_must(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = subject(network_of(family))
    for way in ("change", "delete", "shuffle"):
        found = try_positions(tried, way)
        assert [f.verdict for f in found.findings] == [Verdict.HOLDS]
        assert found.attention is None
    assert [f.verdict.kind for f in try_convolution(tried).findings] == ["holds"]
    assert [f.verdict.kind for f in try_linearity(tried).findings] == ["holds", "holds"]
    shared = try_sharing(tried)
    assert [f.verdict.kind for f in shared.findings] == ["holds", "only if", "fails", "holds"]
    # A claim that is broken does not hold.
    plain = tried.ffn.activation
    mixing = replace(plain, function=lambda x: plain.function(x) + x.mean(dim=-2, keepdim=True))
    monkeypatch.setattr(tried.ffn, "activation", mixing)
    assert [f.verdict for f in try_positions(tried).findings] == [Verdict.FAILS]


def test_a_word_alone_stands_between_what_the_tokenizer_puts_there() -> None:
    network = network_of("BERT")
    found = try_sharing(subject(network))  # "cat", behind [CLS] and "the"
    assert found.alone
    here, alone = network.trace(TEXT).blocks[1].ffn, network.trace("cat").blocks[1].ffn
    for name, told in (("input", found.inputs), ("output", found.outputs)):
        first, second = getattr(here, name)[2], getattr(alone, name)[1]
        assert told[0] == pytest.approx(float((first - second).norm() / first.norm()), rel=1e-4)
    layers = "bert.encoder.layer.{}.intermediate.dense.weight"
    w1 = [network.model.get_parameter(layers.format(block)).double() for block in range(2)]
    assert found.blocks[0] == pytest.approx(float((w1[1] - w1[0]).norm() / w1[1].norm()))


def test_neurons_are_cut_in_the_network_itself() -> None:
    network = network_of("BERT")
    whole = network.trace(TEXT)
    part = token_slice(whole, words_among(whole.tokens))
    found = try_width(Subject(network, part, 1, 1), shares=(1.0, 0.25))
    n = found.important[1].d_ff
    edits = [Edit(b, row[n:].tolist(), scale=0.0) for b, row in enumerate(found.order)]
    cut = network.trace(TEXT, edits).logits[2].log_softmax(dim=-1).double()
    plain = whole.logits[2].log_softmax(dim=-1).double()
    assert found.important[1].divergence == pytest.approx(
        float((plain.exp() * (plain - cut)).sum()), rel=1e-3
    )
    assert found.important[0].divergence == pytest.approx(0, abs=1e-6)


def test_rounding_is_bounded_for_a_phi_as_steep_as_its_inputs_are_large() -> None:
    view = replace(network_of("GPT-2").ffn(1), phi=RELU_SQUARED)
    exact, single = ffn_in_double(view), ffn_in_double(view).float()
    x = 1e3 * torch.randn(5, 32, generator=torch.Generator().manual_seed(0))
    off = (single(x).output.double() - exact(x.double()).output).abs()
    assert bool((off <= ffn_bound(single, x).double()).all())


def test_what_is_no_claim_of_the_ffn_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    card = network_of("GPT-2").card
    assert {each.name for each in EXPERIMENTS if not missing(card, each.needs)} == OF_THE_FFN
    # A fit takes seconds; of trainings there are claims only once all of them are done.
    quick = [each for each in EXPERIMENTS if each.name not in ("fit", "trained")]
    monkeypatch.setattr("ffnviz.analysis.lab.EXPERIMENTS", quick)
    tested = try_all(subject(network_of("GPT-2")))
    found = {each.experiment.name for each in tested if each.findings}
    assert found == OF_THE_FFN - {"fit", "trained"}
    for each in tested:
        assert bool(each.findings) != bool(each.why_not)
        assert len(each.why_not) < 200
    headless = try_all(subject(network_of("BERT without a head")))
    assert "width" not in {each.experiment.name for each in headless if each.findings}
    with pytest.raises(NotForThisNetwork, match="plain FFNs, and SwiGLU is gated"):
        try_all(subject(network_of("Llama")))


def test_the_command_tests_a_network_of_ones_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [each for each in EXPERIMENTS if each.name in ("positions", "hears")]
    monkeypatch.setattr("ffnviz.analysis.lab.EXPERIMENTS", quick)
    gpt, llama = (save(name, tmp_path_factory.mktemp("own") / name) for name in ("GPT-2", "Llama"))
    told = CliRunner().invoke(lab, ["--model", str(gpt), "--text", TEXT, "--device", "cpu"])
    assert told.exit_code == 0, told.output
    assert "GPT-2, block 2 of 2, token" in told.output
    assert "Input influence: not tested. It is not made of" in told.output
    refused = CliRunner().invoke(lab, ["--model", str(llama), "--text", TEXT, "--device", "cpu"])
    assert refused.exit_code == 1
    assert "plain FFNs, and SwiGLU is gated" in refused.output


def test_no_special_token_is_promoted_where_nobody_counted_words() -> None:
    llama = network_of("Llama")
    special = {*llama.tokenizer.special_ids}
    vocabulary = len(word_head(llama)[1].vectors)
    ids = written_ids(llama, 0, np.arange(4), vocabulary)
    assert special
    assert ids.shape == (4, vocabulary - len(special))
    assert not {*ids.flatten().tolist()} & special
