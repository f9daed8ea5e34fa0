"""The library, its commands, every part and view on the simulated GPU: results are the CPU's."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

import ffnviz
from ffnviz.analysis.lab import EXPERIMENTS
from ffnviz.analysis.lab.width import SHARES, try_width
from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.cli import main
from ffnviz.models.network import Network
from ffnviz.parts import PAGES
from ffnviz.parts.neurons.superposition import pack
from ffnviz.parts.part import Part
from ffnviz.state import run_factory
from ffnviz.state.run_factory import Gpu
from tests.gpu.simulated_gpu import NAME, simulated_gpu
from tests.models.external.families import FAMILIES, build
from tests.models.external.tokenizers import byte_level
from tests.parts.sheets import drawn

TEXT, OTHER = "a cat", "a mat"
RATHER = ffnviz.LogitDifference(40, 50)
EDITS = (
    ffnviz.Edit(0, [3, 5], scale=0.0),
    ffnviz.Edit(1, value=0.5, tokens=[1]),
    ffnviz.Edit(0, add=torch.linspace(-1, 1, 8), neurons=range(8), at="output"),
)
USES: dict[str, Callable[[Any], Any]] = {
    "a trace": lambda network: _all_of(network.trace(TEXT)),
    "a trace that is kept": lambda network: _all_of(network.trace(TEXT, hold="all")),
    "edits": lambda network: _all_of(network.trace(TEXT, edits=EDITS)),
    "many texts": lambda network: [_all_of(each) for each in network.traces([TEXT, "the cat"])],
    "a fingerprint": lambda network: network.fingerprint,
    "ablation": lambda network: [
        ffnviz.ablate(network, TEXT, RATHER, block=1, at="ffn"),
        ffnviz.ablate(network, TEXT, RATHER, 0, [2], how="mean", reference=[OTHER]),
        ffnviz.ablate(network, TEXT, RATHER, 0, how="resample", reference=[OTHER], draws=2),
        ffnviz.ablate(network, TEXT, RATHER, block=0, heads=[1]),
    ],
    "patching": lambda network: [
        ffnviz.head_map(network, TEXT, OTHER, RATHER),
        _all_of(ffnviz.patch(network, TEXT, OTHER, block=0, tokens=[1])),
        ffnviz.patch_map(network, TEXT, OTHER, RATHER),
        ffnviz.patch_map(network, TEXT, ffnviz.Noise([1], draws=2), RATHER),
    ],
    "attribution": lambda network: [
        ffnviz.logit_attribution(network.trace(TEXT), RATHER, k=3),
        ffnviz.head_attribution(network.trace(TEXT), RATHER),
        ffnviz.neuron_paths(network.trace(TEXT), 0, 3, 1),
        ffnviz.gradient_attribution(network, TEXT, RATHER),
    ],
    "steering": lambda network: [
        contrast := ffnviz.contrast(network, [TEXT, "it sat"], [OTHER, "she sat"], block=0),
        _all_of(ffnviz.steer(network, TEXT, contrast)),
    ],
    "a table": lambda network: network.trace(TEXT).to_xarray().to_array().values,
}


def _all_of(trace: ffnviz.Trace) -> list[Any]:
    """All that a trace computes, and on which device it did."""
    made: list[Any] = [trace.embedding, trace.final, trace.logits]
    for block in trace.blocks:
        made += [block.input, block.middle, block.output, block.ffn, block.attention]
    return made


def values(result: Any) -> list[Any]:
    """Every number and word in a result, each array by itself."""
    if isinstance(result, Tensor):
        return [result.detach().cpu().numpy()]
    if is_dataclass(result):
        compared = [field.name for field in fields(result) if field.compare]
        return [value for name in compared for value in values(getattr(result, name))]
    if isinstance(result, list | tuple):
        return [value for each in result for value in values(each)]
    return [result] if isinstance(result, np.ndarray | float | int | str) else []


def same(one: Any, other: Any) -> bool:
    """Whether they are equal up to the rounding of float32: some operators are taken apart."""
    if isinstance(one, np.ndarray | float) and np.asarray(one).dtype.kind == "f":
        return np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
    return np.array_equal(one, other)


@pytest.fixture(scope="module")
def open_network(model_folder: Path) -> Callable[[str, str], Network]:
    """A small network of a kind, on a device."""

    def opened(kind: str, device: str) -> Network:
        if kind == "ours":
            return ffnviz.load(model_folder, device)
        return ffnviz.from_module(build(FAMILIES[kind]).to(device), byte_level(), kind)

    return opened


@pytest.mark.filterwarnings("ignore:This text")  # which token is measured does not matter
@pytest.mark.parametrize("kind", ["ours", "GPT-2", "Llama"])
def test_everything_is_computed_there_as_on_the_cpu(
    kind: str, open_network: Callable[[str, str], Network]
) -> None:
    here = open_network(kind, "cpu")
    with simulated_gpu():
        there = open_network(kind, NAME)
        assert there.trace(TEXT).logits.device.type == NAME
    for what, use in USES.items():
        expected = values(use(here))
        with simulated_gpu():
            found = values(use(there))
        assert expected, what
        for one, other in zip(found, expected, strict=True):
            assert same(one, other), what


def test_an_index_is_that_of_the_cpu(model_folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The dog ran home.\n\nIt was late.\n\n" * 20 + "She sang. " * 60)

    def written(device: str) -> ffnviz.NeuronIndex:
        out = tmp_path / device
        asked = ["index", "--model", str(model_folder), "--corpus", str(corpus), "--out", str(out)]
        done = CliRunner().invoke(main, [*asked, "--device", device, "--longest", "16"])
        assert done.exit_code == 0, done.output
        (path,) = out.glob("*.npz")
        return read_index(path)

    here = written("cpu")
    with simulated_gpu():
        there = written(NAME)
    for one, other in zip(values(there), values(here), strict=True):
        assert same(one, other)
    assert there.n_tokens == here.n_tokens > 0


# Of every part and view, nothing is left on the CPU and all words are equal.


# Enough for every operator to run once; how often it runs changes nothing here.
QUICK = {
    "ffnviz.analysis.lab.EXPERIMENTS": EXPERIMENTS[:3],  # the others have parts of their own
    "ffnviz.analysis.lab.fitting.STEPS": 8,
    "ffnviz.analysis.lab.bend_deleted.INPUTS": 600,
    "ffnviz.parts.neurons.superposition.pack": partial(pack, steps=8),
    "ffnviz.parts.neurons.capacity.COUNTS": (1, 64),
    "ffnviz.analysis.timing.growth.LENGTHS": (8, 16),
    "ffnviz.analysis.timing.growth.WIDTHS": (512, 1_024),
    "ffnviz.analysis.lab.influence.SEEDS": (11, 12),
    "ffnviz.analysis.lab.residual.SEEDS": (13, 14),
    "ffnviz.parts.block.beside.SENTENCES": 2,
    "ffnviz.parts.sparsity.keep.SHARES": SHARES[::4],
    "ffnviz.parts.sparsity.keep.try_width": partial(try_width, shares=SHARES[::4]),
    "ffnviz.parts.dimensions.forms.RUNS": 1,
    "ffnviz.parts.dimensions.cost.RUNS": 1,
    "ffnviz.parts.lab.summary.EXPERIMENTS": EXPERIMENTS[:3],
    "ffnviz.parts.neurons.fact.COUNTS": (1, 5),
    "ffnviz.parts.neurons.fact.EVERY": 200,
    "ffnviz.parts.dimensions.memory.RUNS": 1,
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
