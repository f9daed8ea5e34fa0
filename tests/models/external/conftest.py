"""Networks of other people, tiny and random, proved once for all tests."""

import pytest
from torch import nn

from ffnviz.models.external.network import ExternalNetwork
from tests.models.external.families import FAMILIES, KINDS, build
from tests.models.external.folders import network_of


@pytest.fixture(params=list(FAMILIES))
def network(request: pytest.FixtureRequest) -> ExternalNetwork:
    """Each of the families."""
    return network_of(request.param)


@pytest.fixture(params=KINDS)
def one_of_a_kind(request: pytest.FixtureRequest) -> ExternalNetwork:
    """One of each kind."""
    return network_of(request.param)


@pytest.fixture
def llama() -> nn.Module:
    """A fresh one, to be spoiled."""
    return build(FAMILIES["Llama"])
