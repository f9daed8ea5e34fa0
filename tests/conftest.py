"""What all tests share: shapes checked while they run, and a small tokenizer and model.

The import hook comes first. With it every call into ffnviz.models checks the shapes and types in
its signature; modules that were imported earlier would go unchecked.
"""

# ruff: noqa: E402

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import jaxtyping

assert not any(name.startswith("ffnviz.models") for name in sys.modules), "imported before the hook"
MODELS = Path(__file__).parents[1] / "ffnviz" / "models"
# encoder.config and edit say what is allowed when a value is wrong; network has signatures only,
# and batches and fingerprint take one.
UNCHECKED = (
    "network", "batches", "fingerprint", "edit", "registry", "external", "encoder",
    "encoder.config",
)  # fmt: skip
jaxtyping.install_import_hook(
    [
        f"ffnviz.models.{folder}{path.stem}"
        for folder in ("", "encoder.")
        for path in (MODELS / folder.strip(".")).glob("[!_]*")
        if f"{folder}{path.stem}" not in UNCHECKED
    ],
    "beartype.beartype",
)

import pytest
import torch
from hypothesis import HealthCheck, settings
from streamlit.components.v2 import manifest_scanner

from ffnviz.models.config import config, use
from ffnviz.models.encoder import folder, model
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.encoder.folder import write_folder
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.memory import give_back
from ffnviz.training.twin import train_tokenizer

pytest_plugins = ["tests.heads"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples each time, so that a red test is red for everybody;
# `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, derandomize=False, max_examples=5_000)
settings.load_profile("repeatable")

torch.set_num_threads(1)  # on models this small a second thread only gets in the way

TEXT = """\
The cat sat on the mat, and the dog sat on the floor beside her.
"Where is the little girl?" said the old man; but nobody knew where she was.
She had opened the door and looked out at the rain, and then she had gone to the river.
The river was wide and the water was cold. The boat was there, and the man was in the boat.
He said that he would not take her over the water before the morning came.
It's a long way, it isn't a short one: two hundred and forty miles and more.
So they sat there, the man and the girl and the cat, and waited for the sun.
"""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a test or its command sets, here or for the processes it starts, goes with it."""
    before = config()
    with patch.dict(os.environ):
        yield
    use(before)


@pytest.fixture(autouse=True, scope="module")
def _memory_goes_back() -> Iterator[None]:
    """What a file's tests held goes back to the system after its last test, not piece by piece."""
    with pytest.MonkeyPatch.context() as patch:
        counting = sys.modules.get("ffnviz.jobs.indexing.run")
        if counting:  # an index would have the process keep all of it
            patch.setattr(counting, "keep_what_is_free", lambda: None)
        yield
    if counting:
        counting._HELD.clear()
    pages = sys.modules.get("ffnviz.state.run_factory")
    if pages:
        pages.CACHE.clear()
    gc.collect()
    give_back()


@pytest.fixture(autouse=True, scope="session")
def _what_is_loaded_is_no_garbage() -> None:
    """A collection after each file goes through what tests made, not through all modules."""
    gc.collect()
    gc.freeze()


TWINS: dict[Path, tuple[Encoder, Tokenizer, torch.Tensor]] = {}


def _read_once(place: Path) -> tuple[Encoder, Tokenizer, torch.Tensor]:
    if place.parent != model.MODELS:
        return folder.read_folder(place)
    if place not in TWINS:
        TWINS[place] = folder.read_folder(place)
    return TWINS[place]


# A process has each twin once, as a server has, also while tests are collected.
pytest.MonkeyPatch().setattr(model, "read_folder", _read_once)


@pytest.fixture(autouse=True, scope="session")
def _no_test_changes_a_twin() -> Iterator[None]:
    """A test that changes one has a copy."""
    yield
    for place, (encoder, *_) in TWINS.items():
        for name, weight in folder.read_folder(place)[0].state_dict().items():
            assert torch.equal(weight, encoder.state_dict()[name]), f"a test has changed {place}"


@pytest.fixture(autouse=True, scope="session")
def _packages_are_read_once() -> Iterator[None]:
    """Every AppTest asks all installed packages for components, seven times as long as a page."""
    with pytest.MonkeyPatch.context() as patch:
        read_once = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", read_once)
        yield


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """A tokenizer of 300 entries: [MASK], the 256 bytes, and 43 merges."""
    return train_tokenizer(TEXT.splitlines(), vocab_size=300)


@pytest.fixture(scope="session")
def tiny_config(tokenizer: Tokenizer) -> EncoderConfig:
    """Two small blocks over the tokenizer's vocabulary, and room for 128 tokens."""
    return EncoderConfig(
        vocab_size=tokenizer.vocab_size, max_tokens=128, d_model=16, n_heads=2, d_ff=32, n_blocks=2
    )


@pytest.fixture(scope="session")
def model_folder(
    tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer, tiny_config: EncoderConfig
) -> Path:
    """A model folder with an untrained model. Read only: copy it to change it."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    counts = list(range(tokenizer.vocab_size))
    write_folder(folder, initial_encoder(tiny_config, seed=1), tokenizer, counts)
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tiny_config: EncoderConfig) -> Encoder:
    """The encoder of `model_folder`, before its weights were rounded to float16."""
    return initial_encoder(tiny_config, seed=1).eval()


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """One Chromium for whoever needs one: a process has room for no second Playwright."""
    from tests.browser.launch import chromium

    with chromium() as browser:
        yield browser
