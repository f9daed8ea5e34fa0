"""What analyses need of a network: one sentence for each, and every analysis says its own."""

import json
from importlib import import_module
from inspect import getmembers, isfunction, signature
from itertools import chain
from pathlib import Path

import pytest

from ffnviz import analysis
from ffnviz.analysis.needs import Capability, missing, require
from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.folder import TRAINING
from ffnviz.models.encoder.model import MODELS, TWINS, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.networks import network as network_of
from tests.analysis.networks import ours

FOLDER = Path(analysis.__file__).parent


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_with_a_partner_lacks_nothing_and_has_a_record(twin: str) -> None:
    model = load(twin)
    assert missing(model.card, Capability, partner=True) == (Capability.SAE,)
    assert missing(model.card, Capability) == (Capability.PARTNER, Capability.SAE)
    saved = json.loads((MODELS / twin / TRAINING).read_text(encoding="utf-8"))
    assert record_of(model).tokens.tolist() == [each["tokens"] for each in saved["points"]]


def test_what_is_missing_is_named_in_a_sentence(tokenizer: Tokenizer) -> None:
    stranger, post = (network_of(name, tokenizer) for name in ("headless stranger", "post-LN"))
    has = {Capability.ATTENTION, Capability.PRE_NORM, Capability.WRITES}
    assert set(missing(stranger.card, Capability)) == set(Capability) - has
    assert set(missing(post.card, Capability, partner=True)) == {
        Capability.RECORD, Capability.SEED, Capability.INDEX, Capability.SAE, Capability.PRE_NORM
    }  # fmt: skip
    gated = ours(tokenizer, activation="swiglu", norm="post")
    with pytest.raises(NotForThisNetwork, match=r"^Not for tiny: Its FFN is gated, .*\.$"):
        require(gated, (Capability.MASK, Capability.PLAIN_FFN, Capability.PRE_NORM))
    require(gated, (Capability.MASK, Capability.WORD_HEAD, Capability.OURS))
    for need in Capability:
        assert need.value[0].isupper()
        assert need.value.endswith(".")


MODULES = sorted(
    ".".join(("ffnviz.analysis", *path.relative_to(FOLDER).with_suffix("").parts))
    for path in FOLDER.rglob("[!_]*.py")
)


def test_an_analysis_of_a_network_says_what_it_needs() -> None:
    said = 0
    for name in MODULES:
        module = import_module(name)
        takes = [
            function
            for _, function in getmembers(module, isfunction)
            if function.__module__ == name and "model" in signature(function).parameters
        ]
        if takes and ".lab." not in name:
            needs = [value for key, value in vars(module).items() if key.endswith("NEEDS")]
            assert needs, name
            assert all(isinstance(need, Capability) for need in chain(*needs)), name
            said += 1
    assert said > 10
