"""A model written to a folder comes back as it was, its weights rounded to float16."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.encoder.folder import read_folder, write_folder
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.models.reference import randomise

FILES = ["config.json", "token_counts.json", "tokenizer.json", "weights.safetensors"]


def test_a_folder_holds_four_files(model_folder: Path) -> None:
    assert sorted(path.name for path in model_folder.iterdir()) == FILES


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_every_weight_comes_back_rounded_to_float16_and_no_further(
    tmp_path: Path, tokenizer: Tokenizer, tiny_config: EncoderConfig, norm: str, activation: str
) -> None:
    config = replace(tiny_config, norm=norm, activation=activation)
    encoder: Encoder = randomise(initial_encoder(config, seed=3))
    write_folder(tmp_path, encoder, tokenizer, [0] * 300)
    read, _, _ = read_folder(tmp_path)
    assert read.config == config
    written = encoder.state_dict()
    assert read.state_dict().keys() == written.keys()
    for name, tensor in read.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, written[name].half().float()), name


def test_on_disk_the_weights_are_float16(model_folder: Path) -> None:
    weights = load_file(model_folder / "weights.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}


def test_writing_does_not_change_the_encoder_it_writes(
    tmp_path: Path, tokenizer: Tokenizer, tiny_config: EncoderConfig
) -> None:
    encoder = initial_encoder(tiny_config, seed=3)
    write_folder(tmp_path, encoder, tokenizer, [0] * 300)
    fresh = initial_encoder(tiny_config, seed=3).state_dict()
    assert all(torch.equal(t, fresh[name]) for name, t in encoder.state_dict().items())


def test_what_was_read_is_ready_for_inference(model_folder: Path) -> None:
    encoder, _, _ = read_folder(model_folder)
    assert not encoder.training
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    assert not any(parameter.is_meta for parameter in encoder.parameters())


def test_tokenizer_and_counts_come_back(model_folder: Path, tokenizer: Tokenizer) -> None:
    _, read, counts = read_folder(model_folder)
    text = "The cat can't [MASK] the 😀."
    assert read.encode(text) == tokenizer.encode(text)
    assert counts.tolist() == list(range(300))


def test_a_model_written_again_is_the_same_to_the_byte(model_folder: Path, tmp_path: Path) -> None:
    encoder, tokenizer, counts = read_folder(model_folder)
    again = tmp_path / "a" / "new" / "folder"
    write_folder(again, encoder, tokenizer, counts.tolist())
    for name in FILES:
        assert (again / name).read_bytes() == (model_folder / name).read_bytes(), name


def test_the_configuration_is_json_a_person_can_read(
    model_folder: Path, tiny_config: EncoderConfig
) -> None:
    text = (model_folder / "config.json").read_text(encoding="utf-8")
    values = json.loads(text)
    del values["sha256"]
    assert values == tiny_config.to_dict()
    assert '\n  "d_ff": 32,\n' in text
