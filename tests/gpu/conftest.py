"""What the tests on the simulated GPU share."""

from collections.abc import Iterator

import pytest
import torch

from ffnviz.models.encoder import folder, linear, model
from ffnviz.state.run_factory import forget_networks
from tests.gpu.simulated_gpu import simulated_gpu


@pytest.fixture(autouse=True, scope="module")
def _networks_of_their_own() -> Iterator[None]:
    """Networks are read anew, as `.to` would move those of the CPU; both take one kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "read_folder", folder.read_folder)
        patch.setattr(linear, "_decided", [False])
        forget_networks()
        yield
    forget_networks()


@pytest.fixture
def gpu() -> Iterator[torch.device]:
    """The simulated GPU, for one test."""
    with simulated_gpu() as device:
        yield device
