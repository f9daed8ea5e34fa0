"""Networks of other people, tiny and random, proved once for all tests."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from torch import nn

from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import proved_network
from ffnviz.models.external.tokenizer import ExternalTokenizer
from tests.models.external.families import FAMILIES, KINDS, build, two_texts
from tests.models.external.tokenizers import byte_level, metaspace, word_piece


@cache
def _made(name: str) -> ExternalNetwork:
    model = build(FAMILIES[name])
    words = ExternalTokenizer(TOKENIZERS.get(name, byte_level)(), 97)
    return proved_network(model, words, two_texts(), 6, name.lower(), name, "#009e73")


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "BERT": word_piece, "BERT without a head": word_piece, "DistilBERT": word_piece,
    "ELECTRA": word_piece, "ALBERT": metaspace, "Llama": metaspace, "T5's encoder": metaspace,
}  # fmt: skip


@pytest.fixture(params=list(FAMILIES))
def network(request: pytest.FixtureRequest) -> ExternalNetwork:
    """Each of the families."""
    return _made(request.param)


@pytest.fixture(params=KINDS)
def one_of_a_kind(request: pytest.FixtureRequest) -> ExternalNetwork:
    """One of each kind."""
    return _made(request.param)


@pytest.fixture
def network_of() -> Callable[[str], ExternalNetwork]:
    """One by the name of its family."""
    return _made


@pytest.fixture
def llama() -> nn.Module:
    """A fresh one, to be spoiled."""
    return build(FAMILIES["Llama"])
