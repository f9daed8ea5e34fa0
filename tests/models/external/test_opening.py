"""A network from a folder or a name: sized, loaded and proved, or a sentence that says why not."""

import re
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers as T  # noqa: N812
from click.testing import CliRunner
from huggingface_hub import errors

from ffnviz.cli import main
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, install, use
from ffnviz.models.external import memory, opening
from ffnviz.models.external.opening import from_module, open_external
from ffnviz.models.external.refusal import CannotOpenError
from tests.models.external.families import FAMILIES, GPT2, HEADS, SIZES, build
from tests.models.external.folders import BROKEN, TOKENIZERS, configure, save, save_with
from tests.models.external.tokenizers import word_piece


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("GPT-2", tmp_path_factory.mktemp("networks") / "GPT-2")


def refused(name: str | Path, device: str = "cpu", revision: str | None = None) -> str:
    with pytest.raises(CannotOpenError) as caught:
        open_external(NetworkRequest(str(name), revision=revision), torch.device(device))
    said = str(caught.value)
    assert said.startswith(f"{name}: ")
    assert "Traceback" not in said
    return said


def test_folders_of_one_name_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_OPENED", {})
    folders = [save("GPT-2", tmp_path / step / "net") for step in ("first", "second")]
    use(Config(tuple(NetworkRequest(str(folder)) for folder in folders), twins=False))
    cards = [registry.open_network(name, "cpu").card for name in registry.available_networks()]
    assert [card.label for card in cards] == ["first/net", "second/net"]
    assert len({card.id for card in cards}) == len({card.colour for card in cards}) == 2
    colours = [registry.colour_of(place) for place in range(40)]
    assert len(set(colours)) == 40
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


@pytest.mark.parametrize("family", ["BERT", "GPT-2", "Gemma 4", "BERT without a head"])
def test_a_saved_network_says_what_it_is_and_is_the_one_in_memory_to_the_bit(
    family: str, tmp_path: Path
) -> None:
    said: list[str] = []
    network = open_external(NetworkRequest(str(save(family, tmp_path / family))), say=said.append)
    assert "parameters" in said[0]
    assert "float32" in said[0]
    assert [line[:2] for line in said[1:]] == ["E1", "E2", "E3", "E4", "E5"]
    assert network.label == family
    here = from_module(build(FAMILIES[family]), TOKENIZERS[family](), family)
    assert here.proof.errors == network.proof.errors
    assert here.sizes == network.sizes
    one, other = here.trace("the cat sat"), network.trace("the cat sat")
    assert one.tokens == other.tokens
    assert torch.equal(one.final, other.final)


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_wrong_with_a_folder_is_said(fault: str, gpt2: Path, tmp_path: Path) -> None:
    breaks, said = BROKEN[fault]
    folder = tmp_path / "mine"
    shutil.copytree(gpt2, folder)
    breaks(folder)
    with pytest.raises(CannotOpenError, match=said):
        open_external(NetworkRequest(str(folder)))


def test_no_such_folder_and_no_such_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no such folder" in refused(tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("x")
    assert "Give the folder" in refused(tmp_path / "a.txt")
    (tmp_path / "a.gguf").write_text("GGUF")
    assert "GGUF" in refused(tmp_path / "a.gguf")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert "cannot be reached" in refused("gpt2")
    assert "neither a folder nor a name" in refused("not a name")


def _answer(code: int) -> Any:
    return SimpleNamespace(status_code=code, request=None, headers={})


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errors.GatedRepoError("no", response=_answer(403)), "accept terms first"),
        (errors.RepositoryNotFoundError("no", response=_answer(404)), "Check the spelling"),
        (errors.RevisionNotFoundError("no", response=_answer(404)), "no such revision: “abc”"),
        (errors.LocalEntryNotFoundError("no"), "cannot be reached"),
        (errors.OfflineModeIsEnabled("no"), "cannot be reached"),
        (errors.HfHubHTTPError("no", response=_answer(500)), "could not be fetched"),
        (errors.HTTPError("no"), "could not be fetched"),
    ],
)
def test_what_the_hub_says_is_passed_on(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(*_: object, **asked: object) -> str:
        assert asked["revision"] == "abc"
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert said in refused("somebody/something", revision="abc")


def test_what_does_not_fit_is_not_loaded(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "free_bytes", lambda _: memory.RESERVED_BYTES + 70_000)
    monkeypatch.setattr(opening, "loaded", pytest.fail)
    said = refused(gpt2)
    assert "--dtype bfloat16" in said
    monkeypatch.setattr(opening, "free_bytes", lambda _: memory.RESERVED_BYTES + 20_000)
    assert "10,000 parameters would fit" in refused(gpt2)


def test_what_is_missing_on_the_way_is_said(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(T.AutoModelForCausalLM, "from_pretrained", full)
        assert "memory ran out" in refused(gpt2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "--device cpu" in refused(gpt2, device="cuda")
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert install("hf") in refused(gpt2)


def test_a_large_network_is_sized_by_its_shapes_and_takes_half_precision() -> None:
    config = T.LlamaConfig(
        hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=128_256,
    )  # fmt: skip
    cpu = torch.device("cpu")
    size = memory.footprint(lambda: T.AutoModelForCausalLM.from_config(config), cpu, None)
    assert size.n_parameters == 8_030_261_248  # as Meta counts Llama 3 8B
    assert size.in_words == "8.03B parameters, 16.1 GB in bfloat16"
    small = memory.footprint(lambda: torch.nn.Linear(4, 4), cpu, None)
    assert small.dtype == torch.float32
    assert memory.free_bytes(cpu) > 0
    assert memory.too_large(size, cpu, 2 * size.n_bytes) is None


# Networks that transformers builds and that are unlike most: too short, too deep, not of text.

VISION: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 88,
    "image_size": 16, "patch_size": 8,
}  # fmt: skip


def _gpt2(**sizes: int) -> Any:
    return T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, **sizes}))


def _rotary_of_another_width() -> Any:
    config = T.DeepseekV3Config(
        **{**HEADS, "num_key_value_heads": 4}, q_lora_rank=16, kv_lora_rank=16, n_group=1,
        qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=4, num_experts_per_tok=2, topk_group=1,
        moe_intermediate_size=24, first_k_dense_replace=1, qk_rope_head_dim=8,
    )  # fmt: skip
    config.head_dim = 4
    return T.DeepseekV3ForCausalLM(config)


NO_WORDS = "transformers finds no table of word vectors in a "
UNLIKE_MOST: dict[str, tuple[Callable[[], Any], str]] = {
    "ViT": (lambda: T.ViTModel(T.ViTConfig(**VISION)), f"{NO_WORDS}ViT"),
    "Canine": (lambda: T.CanineModel(T.CanineConfig(**SIZES)), f"{NO_WORDS}Canine"),
    "one token": (lambda: _gpt2(n_positions=1), "too few tokens at once for a text of two words"),
    "no block": (lambda: _gpt2(n_layer=0), "gives it 0 blocks, so there is no FFN to show"),
    "blocks that no hook sees": (
        lambda: T.SqueezeBertForMaskedLM(T.SqueezeBertConfig(**SIZES, embedding_size=32)),
        "past PyTorch's hooks"),
    "builds and does not run": (
        _rotary_of_another_width,
        r"its code fails on a sentence \(RuntimeError: The size of tensor a.*"
        r"its config\.json does not fit it"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNLIKE_MOST)
def test_what_is_unlike_most_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    make, said = UNLIKE_MOST[name]
    save_with(build(make), tmp_path, word_piece)
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{tmp_path}: " in done.output
    assert re.search(said, done.output, re.DOTALL)


def test_one_that_reads_few_tokens_is_proved_on_as_many(tmp_path: Path) -> None:
    for n in (2, 20):
        save_with(build(partial(_gpt2, n_positions=n)), tmp_path)
        network = open_external(NetworkRequest(str(tmp_path)))
        assert network.max_tokens == n
        trace = network.trace("she sat on the mat and out of the door")
        assert len(trace.tokens) == n
        with torch.inference_mode():
            told = network.model(input_ids=trace.ids[None])
        assert torch.allclose(trace.logits, told.logits[0], atol=2e-5)
    config = T.RobertaConfig(**{**SIZES, "max_position_embeddings": 10}, pad_token_id=1)
    save_with(build(lambda: T.RobertaForMaskedLM(config)), tmp_path)
    assert open_external(NetworkRequest(str(tmp_path))).max_tokens == 8, "its table has an offset"


@pytest.mark.parametrize(
    "deep", [{"n_layer": 100_000}, {"text_config": {"num_hidden_layers": 100_000}}]
)
def test_too_many_blocks_are_refused_before_they_are_built(
    deep: dict[str, Any], tmp_path: Path
) -> None:
    configure(save("GPT-2", tmp_path), **deep)
    started = time.thread_time()
    assert "announces 100,000 blocks" in refused(tmp_path)
    assert time.thread_time() - started < 5


def test_a_fault_of_our_own_is_not_said_to_be_the_networks(
    gpt2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ffnviz.models.external.proof.find_ffn", ours)
    with pytest.raises(ZeroDivisionError):
        open_external(NetworkRequest(str(gpt2)))
