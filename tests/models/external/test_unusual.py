"""Networks that transformers builds and that are unlike most: too short, too deep, not of text."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from click.testing import CliRunner

from ffnviz.cli import main
from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.opening import open_external
from ffnviz.models.external.refusal import CannotOpenError
from tests.models.external.families import GPT2, HEADS, SIZES, build
from tests.models.external.folders import save
from tests.models.external.tokenizers import byte_level, word_piece

DEEPSEEK: dict[str, Any] = {
    **HEADS, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "n_group": 1,
    "qk_nope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "topk_group": 1, "moe_intermediate_size": 24, "first_k_dense_replace": 1,
}  # fmt: skip


def _saved(model: Any, folder: Path, tokenizer: Callable[[], Any] = byte_level) -> Path:
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def _refused(folder: Path) -> str:
    with pytest.raises(CannotOpenError) as caught:
        open_external(LoadRequest(str(folder)))
    return str(caught.value)


@pytest.mark.parametrize("n", [2, 8, 20])
def test_one_that_reads_few_tokens_is_proved_on_as_many(n: int, tmp_path: Path) -> None:
    _saved(build(lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, "n_positions": n}))), tmp_path)
    network = open_external(LoadRequest(str(tmp_path)))
    assert network.max_tokens == n
    trace = network.trace("she sat on the mat and out of the door")
    assert len(trace.tokens) == n
    with torch.inference_mode():
        told = network.model(input_ids=trace.ids[None])
    assert torch.allclose(trace.logits, told.logits[0], atol=2e-5)


def test_a_table_of_positions_with_an_offset_is_read_to_its_end(tmp_path: Path) -> None:
    config = T.RobertaConfig(**{**SIZES, "max_position_embeddings": 10}, pad_token_id=1)
    _saved(build(lambda: T.RobertaForMaskedLM(config)), tmp_path)
    assert open_external(LoadRequest(str(tmp_path))).max_tokens == 8


def test_one_token_is_too_few(tmp_path: Path) -> None:
    _saved(build(lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, "n_positions": 1}))), tmp_path)
    assert "too few tokens at once for a text of two words" in _refused(tmp_path)


VISION: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 88,
    "image_size": 16, "patch_size": 8,
}  # fmt: skip
PERCEIVER: dict[str, Any] = {
    "num_latents": 8, "d_latents": 32, "d_model": 32, "num_blocks": 1,
    "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
    "num_cross_attention_heads": 4, "vocab_size": 97, "max_position_embeddings": 64,
}  # fmt: skip
WITHOUT_WORDS: dict[str, Callable[[], Any]] = {
    "ViT": lambda: T.ViTModel(T.ViTConfig(**VISION)),
    "Perceiver": lambda: T.PerceiverForMaskedLM(T.PerceiverConfig(**PERCEIVER)),
    "Canine": lambda: T.CanineModel(T.CanineConfig(**{**SIZES, "max_position_embeddings": 64})),
}


@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_what_has_no_words_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    _saved(build(WITHOUT_WORDS[name]), tmp_path, word_piece)
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{tmp_path}: transformers finds no table of word vectors in a {name}" in done.output


def test_what_builds_and_does_not_run_says_what_its_code_said(tmp_path: Path) -> None:
    config = T.DeepseekV3Config(**DEEPSEEK, qk_rope_head_dim=8)
    config.head_dim = 4  # its rotary embedding is made for another width
    _saved(build(lambda: T.DeepseekV3ForCausalLM(config)), tmp_path)
    said = _refused(tmp_path)
    assert "its code fails on a sentence (RuntimeError: The size of tensor a" in said
    assert "its config.json does not fit it" in said


@pytest.mark.parametrize("where", ["n_layer", "text_config"])
def test_too_many_blocks_are_refused_before_they_are_built(where: str, tmp_path: Path) -> None:
    folder = save("GPT-2", tmp_path / "net")
    config = json.loads((folder / "config.json").read_text())
    deep = {"num_hidden_layers": 100_000}
    config |= {"n_layer": 100_000} if where == "n_layer" else {"text_config": deep}
    (folder / "config.json").write_text(json.dumps(config))
    started = time.thread_time()
    assert "announces 100,000 blocks" in _refused(folder)
    assert time.thread_time() - started < 5


def test_no_blocks_at_all(tmp_path: Path) -> None:
    _saved(build(lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, "n_layer": 0}))), tmp_path)
    assert "gives it 0 blocks, so there is no FFN to show" in _refused(tmp_path)


def test_blocks_that_no_hook_sees(tmp_path: Path) -> None:
    config = T.SqueezeBertConfig(**SIZES, embedding_size=32)
    _saved(build(lambda: T.SqueezeBertForMaskedLM(config)), tmp_path, word_piece)
    assert "past PyTorch's hooks" in _refused(tmp_path)


def test_a_fault_of_our_own_is_not_said_to_be_the_networks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ffnviz.models.external.proof.find_ffn", ours)
    with pytest.raises(ZeroDivisionError):
        open_external(LoadRequest(str(save("GPT-2", tmp_path / "net"))))
