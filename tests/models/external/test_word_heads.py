"""A network opens with the word head that its weights have, whatever its file calls it."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from safetensors.torch import load_file, save_file
from torch import nn

import ffnviz
from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module, open_external
from ffnviz.models.external.refusal import CannotOpenError
from tests.models.external.families import FAMILIES, HEADS, IDS, WIDE, build
from tests.models.external.folders import configure, save
from tests.models.external.tokenizers import byte_level, metaspace

EYE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "image_size": 28, "patch_size": 14,
}  # fmt: skip
QWEN_EYE: dict[str, Any] = {
    "depth": 1, "hidden_size": 32, "num_heads": 2, "intermediate_size": 32, "out_hidden_size": 32,
}  # fmt: skip
ROPE = {"rope_type": "default", "mrope_section": [2, 1, 1]}


def _gemma() -> Any:
    return T.Gemma3ForConditionalGeneration(T.Gemma3Config(
        text_config={**WIDE, **IDS}, vision_config=EYE, mm_tokens_per_image=4,
        image_token_index=96, boi_token_index=95, eoi_token_index=94,
    ))  # fmt: skip


def _llava() -> Any:
    return T.LlavaForConditionalGeneration(T.LlavaConfig(
        text_config=T.LlamaConfig(**WIDE), vision_config=T.CLIPVisionConfig(**EYE),
        image_token_index=96,
    ))  # fmt: skip


def _mistral() -> Any:
    return T.Mistral3ForConditionalGeneration(T.Mistral3Config(
        text_config=T.MistralConfig(**WIDE), vision_config=T.PixtralVisionConfig(**EYE),
        image_token_index=96,
    ))  # fmt: skip


def _qwen() -> Any:
    return T.Qwen2_5_VLForConditionalGeneration(T.Qwen2_5_VLConfig(
        text_config={**HEADS, **IDS, "rope_parameters": ROPE}, vision_config=QWEN_EYE,
        image_token_id=96,
    ))  # fmt: skip


def _opened(model: Any, folder: Path) -> ExternalNetwork:
    model.save_pretrained(folder)
    metaspace().save_pretrained(folder)
    return open_external(LoadRequest(str(folder)))


def _logits_are_the_networks_own(network: ExternalNetwork, model: Any) -> None:
    trace = network.trace("the cat sat")
    assert network.card.has_word_head
    with torch.inference_mode():
        assert torch.allclose(trace.logits, model(input_ids=trace.ids[None]).logits[0], atol=1e-6)


@pytest.mark.parametrize("make", [_gemma, _llava, _mistral, _qwen])
def test_a_network_that_also_reads_pictures_predicts_words(
    make: Callable[[], nn.Module], tmp_path: Path
) -> None:
    model = build(make)
    network = _opened(model, tmp_path)
    assert network.card.causal
    _logits_are_the_networks_own(network, model)


@pytest.mark.parametrize("family", ["BERT", "GPT-2", "Llama"])
@pytest.mark.parametrize("architectures", [None, [], ["SomebodysOwn"]])
def test_without_an_architecture_the_head_is_that_of_the_weights(
    family: str, architectures: list[str] | None, tmp_path: Path
) -> None:
    save(family, tmp_path)
    configure(tmp_path, architectures=architectures)
    network = open_external(LoadRequest(str(tmp_path)))
    _logits_are_the_networks_own(network, build(FAMILIES[family]))


def test_a_head_in_the_weights_is_read_where_the_file_names_a_network_without(
    tmp_path: Path,
) -> None:
    save("Llama", tmp_path)
    configure(tmp_path, architectures=["LlamaModel"])
    network = open_external(LoadRequest(str(tmp_path)))
    _logits_are_the_networks_own(network, build(FAMILIES["Llama"]))
    n = sum(weight.numel() for weight in network.model.parameters())
    assert f"{n:,} parameters" in network.about


@pytest.mark.parametrize("architectures", [None, ["BertModel"], ["BertForMaskedLM"]])
def test_where_the_weights_have_no_head_there_is_none(
    architectures: list[str] | None, tmp_path: Path
) -> None:
    save("BERT without a head", tmp_path)
    configure(tmp_path, architectures=architectures)
    network = open_external(LoadRequest(str(tmp_path)))
    assert not network.card.has_word_head


def test_a_head_that_no_class_reads_is_named(tmp_path: Path) -> None:
    save("BERT without a head", tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file(weights | {"speaks.weight": torch.randn(97, 32)}, tmp_path / "model.safetensors",
              {"format": "pt"})  # fmt: skip
    with pytest.raises(CannotOpenError, match=r"speaks\.weight in its weights looks like a word"):
        open_external(LoadRequest(str(tmp_path)))


def test_a_word_that_the_vocabulary_has_behind_a_space_too_is_pointed_to() -> None:
    network = from_module(build(FAMILIES["GPT-2"]), byte_level(), "mine")
    with pytest.warns(UserWarning, match="'t' and ' t' are two entries"):
        ffnviz.logit_difference(network, "t", " t")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ffnviz.logit_difference(network, " t", ".")
        ffnviz.logit_difference(ffnviz.load("relu"), "do", "does")  # it writes the space itself
