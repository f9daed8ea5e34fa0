"""Every part and view on the simulated GPU: nothing is left on the CPU, and all words are equal."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
import torch

from ffnviz.analysis.lab import EXPERIMENTS
from ffnviz.analysis.lab.width import SHARES, try_width
from ffnviz.parts import PAGES
from ffnviz.parts.part import Part
from ffnviz.state import run_factory
from ffnviz.state.run_factory import Gpu
from tests.gpu.simulated_gpu import NAME, simulated_gpu
from tests.parts.sheets import drawn

# Enough for every operator to run once; how often it runs changes nothing here.
QUICK = {
    "ffnviz.analysis.lab.EXPERIMENTS": EXPERIMENTS[:3],  # the others have parts of their own
    "ffnviz.analysis.lab.fitting.STEPS": 8,
    "ffnviz.parts.neurons.capacity.COUNTS": (1, 64),
    "ffnviz.analysis.timing.growth.LENGTHS": (8, 16),
    "ffnviz.analysis.timing.growth.WIDTHS": (512, 1_024),
    "ffnviz.analysis.lab.influence.SEEDS": (11, 12),
    "ffnviz.analysis.lab.residual.SEEDS": (13, 14),
    "ffnviz.parts.block.beside.SENTENCES": 3,
    "ffnviz.parts.sparsity.keep.SHARES": SHARES[::4],
    "ffnviz.parts.sparsity.keep.try_width": partial(try_width, shares=SHARES[::4]),
    "ffnviz.parts.dimensions.forms.RUNS": 1,
    "ffnviz.parts.dimensions.cost.RUNS": 1,
    "ffnviz.parts.lab.summary.EXPERIMENTS": EXPERIMENTS[:3],
    "ffnviz.parts.neurons.fact.COUNTS": (1, 5),
    "ffnviz.parts.neurons.fact.EVERY": 40,
}
ASKED = {"text": "She [MASK] the dog.", "repeats": "5", "memory_tokens": "256"}
# What they say is how long something took, so it differs from run to run.
TIMED = {"turns", "forms", "growth", "memory", "here", "devices", "products", "convolution"}


def views(part: Part) -> list[dict[str, str]]:
    """The settings that show each view of a part."""
    choices = [setting for setting in part.settings if setting.name.endswith("_view")]
    return [{setting.name: each} for setting in choices for each in setting.options] or [{}]


ALL = [
    pytest.param(page.name, part.name, view, id="-".join([page.name, part.name, *view.values()]))
    for page in PAGES
    for part in page.parts
    for view in views(part)
]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in QUICK.items():
        monkeypatch.setattr(name, value)
    yield
    run_factory.CACHE.clear()


@pytest.mark.parametrize(("page", "part", "view"), ALL)
def test_a_part_says_on_the_gpu_what_it_says_on_the_cpu(
    page: str, part: str, view: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = bool({part, *view.values()} & TIMED)
    here = None if timed else drawn(page, part, True, **ASKED, **view)
    monkeypatch.setattr(run_factory, "find_gpu", lambda: Gpu(NAME, "A GPU was found."))
    with simulated_gpu():
        there = drawn(page, part, True, device=NAME, **ASKED, **view)
    assert there.run.model.device.type == NAME
    assert there.said
    if here:
        assert list(there.cells) == list(here.cells)
        # But for when and on what it was measured.
        said, expected = (re.sub(r"Measured at .*", "", each.said) for each in (there, here))
        assert said == expected


def test_a_tensor_that_stays_on_the_cpu_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if `.to(device)` were forgotten in one place."""

    def forgotten(ids: list[int], **_: object) -> torch.Tensor:
        return made(ids)

    made = torch.tensor
    with simulated_gpu():
        drawn("journey", "journey", True, device=NAME, **ASKED)
        run_factory.CACHE.clear()
        monkeypatch.setattr("ffnviz.models.encoder.model.torch.tensor", forgotten)
        with pytest.raises(RuntimeError, match="all tensors to be on the same device"):
            drawn("journey", "journey", True, device=NAME, **ASKED)
