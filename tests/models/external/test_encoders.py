"""Of a network that has an encoder and a decoder, the encoder is opened."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from safetensors.torch import load_file, save_file

from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.opening import open_external
from ffnviz.models.external.refusal import CannotOpenError
from tests.models.external.families import T5, build
from tests.models.external.tokenizers import metaspace

BART: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 88, "decoder_ffn_dim": 88, "vocab_size": 97,
    "max_position_embeddings": 64, "pad_token_id": 0, "decoder_start_token_id": 1,
}  # fmt: skip
GEMMA: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 88,
    "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 97,
}  # fmt: skip
NETWORKS: dict[str, Callable[[], Any]] = {
    "BART": lambda: T.BartForConditionalGeneration(T.BartConfig(**BART)),
    "mBART": lambda: T.MBartForConditionalGeneration(T.MBartConfig(**BART)),
    # Its table of positions is computed, and in no file.
    "Marian": lambda: T.MarianMTModel(T.MarianConfig(**BART)),
    "Pegasus": lambda: T.PegasusForConditionalGeneration(T.PegasusConfig(**BART)),
    "M2M100": lambda: T.M2M100ForConditionalGeneration(T.M2M100Config(**BART)),
    "T5": lambda: T.T5ForConditionalGeneration(T.T5Config(**T5)),
    "LongT5": lambda: T.LongT5ForConditionalGeneration(T.LongT5Config(**T5)),
    "T5Gemma": lambda: T.T5GemmaForConditionalGeneration(
        T.T5GemmaConfig(encoder=GEMMA, decoder=GEMMA, vocab_size=97)),
    "BERT to BERT": lambda: T.EncoderDecoderModel(
        T.EncoderDecoderConfig.from_encoder_decoder_configs(*[
            T.BertConfig(**{k: v for k, v in GEMMA.items() if "key" not in k}) for _ in "ab"])),
}  # fmt: skip


def _saved(name: str, folder: Path) -> Any:
    model = build(NETWORKS[name])
    model.save_pretrained(folder)  # type: ignore[operator]
    metaspace().save_pretrained(folder)
    return type(model).from_pretrained(folder).eval()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NETWORKS)
def test_its_streams_are_those_of_the_whole_networks_encoder(name: str, tmp_path: Path) -> None:
    whole, said = _saved(name, tmp_path), list[str]()
    network = open_external(LoadRequest(str(tmp_path)), say=said.append)
    assert "its encoder, which reads the text, is shown without its decoder" in said[0]
    assert "without its decoder" in network.card.proof[0]
    trace = network.trace("the cat sat on the mat")
    with torch.inference_mode():
        streams = whole.get_encoder()(trace.ids[None], output_hidden_states=True).hidden_states
    for block, before in zip(trace.blocks, streams, strict=False):
        assert torch.allclose(block.input, before[0], atol=1e-6)
    assert not network.card.causal
    assert network.head is None


def _without(folder: Path, part: str) -> None:
    path = folder / "model.safetensors"
    weights = {k: v.clone() for k, v in load_file(path).items() if part not in k}
    save_file(weights, path, {"format": "pt"})


def test_only_what_its_encoder_lacks_is_missed(tmp_path: Path) -> None:
    _saved("BART", tmp_path)
    _without(tmp_path, "decoder.layers.1.fc1")
    open_external(LoadRequest(str(tmp_path)))
    _without(tmp_path, "encoder.layers.1.fc1")
    with pytest.raises(CannotOpenError, match=r"missing, first encoder.layers.1.fc1.bias"):
        open_external(LoadRequest(str(tmp_path)))


def test_an_encoder_that_is_no_network_of_its_own_is_named(tmp_path: Path) -> None:
    build(lambda: T.FSMTForConditionalGeneration(T.FSMTConfig(
        langs=["en", "de"], src_vocab_size=97, tgt_vocab_size=97,
        **{k: v for k, v in BART.items() if k != "vocab_size"},
    ))).save_pretrained(tmp_path)  # type: ignore[operator]  # fmt: skip
    metaspace().save_pretrained(tmp_path)
    with pytest.raises(CannotOpenError, match=r"FSMTEncoder. cannot be run by itself"):
        open_external(LoadRequest(str(tmp_path)))
