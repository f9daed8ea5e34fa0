"""The Lab on encoders of every shape: what must hold holds, what is not for them is said so."""

import pytest

from ffnviz.analysis.lab import EXPERIMENTS, try_all
from ffnviz.analysis.lab.experiment import Subject, Verdict
from ffnviz.analysis.needs import Capability
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.networks import network, ours

SLOW = ("fit", "residual")  # which hardly look at the network: tested elsewhere
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
SHAPES: dict[str, dict[str, object]] = {
    "one block": {"n_blocks": 1},
    "nine blocks": {"n_blocks": 9},
    "no biases": {"bias": False, "activation": "gelu"},
    "post-LN": {"norm": "post"},
    "causal": {"causal": True},
    "gated": {"activation": "geglu"},
}


@pytest.fixture(params=SHAPES)
def subject(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Subject:
    model = ours(tokenizer, **SHAPES[request.param])
    trace = model.trace("The cat sat on the mat, and the dog sat.")
    return Subject(model, trace, 0, 3)


def test_every_experiment_tells_the_truth_or_says_why_not(subject: Subject) -> None:
    gated = subject.model.card.gated
    held = []
    for experiment in EXPERIMENTS:
        if experiment.name in SLOW:
            continue
        if gated and Capability.PLAIN_FFN in experiment.needs:
            with pytest.raises(NotForThisNetwork, match="gated"):
                experiment.measure(subject, lambda _: None)
            continue
        for finding in experiment.measure(subject, lambda _: None).findings:
            if finding.claim.startswith(HOLD):
                assert finding.verdict is Verdict.HOLDS, (finding.claim, finding.measured)
                held.append(finding.claim)
    assert len(held) == (1 if gated else len(HOLD))


def test_all_at_once_are_not_for_a_gated_network(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, activation="swiglu")
    subject = Subject(model, model.trace("The cat."), 0, 0)
    with pytest.raises(NotForThisNetwork, match="gated"):
        try_all(subject)


def test_a_stranger_is_not_taken_apart(tokenizer: Tokenizer) -> None:
    net = network("stranger", tokenizer)
    with pytest.raises(NotForThisNetwork, match="own modules"):
        Subject(net, net.trace("The cat."), 0, 0).own  # noqa: B018
