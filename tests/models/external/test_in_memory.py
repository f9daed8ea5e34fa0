"""A network in memory: proved like a folder, left as it was, and read to its own limit."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from numpy.testing import assert_allclose
from torch import nn

import ffnviz
from ffnviz.models.edit import Edit
from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.opening import from_module, open_external
from ffnviz.models.external.proof import LONGEST, UNSAID, longest_text
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.registry import load
from tests.models.external.families import FAMILIES, GPT2, SIZES, build, two_texts
from tests.models.external.folders import TOKENIZERS, save

TEXT = "the cat sat on the mat"


def long_gpt2(n: int = 300) -> nn.Module:
    return build(lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, "n_positions": n})))


@pytest.mark.parametrize("family", TOKENIZERS)
def test_a_network_in_memory_is_the_one_of_its_folder_to_the_bit(
    family: str, tmp_path: Path
) -> None:
    opened = open_external(LoadRequest(str(save(family, tmp_path))))
    here = from_module(build(FAMILIES[family]), TOKENIZERS[family](), family)
    assert here.proof.errors == opened.proof.errors
    assert here.sizes == opened.sizes
    one, other = here.trace(TEXT), opened.trace(TEXT)
    assert one.tokens == other.tokens
    assert torch.equal(one.final, other.final)


def test_the_network_and_its_tokenizer_stay_as_they_were() -> None:
    model: Any = build(FAMILIES["GPT-2"])
    tokenizer = TOKENIZERS["GPT-2"]()
    tokenizer.backend_tokenizer.enable_truncation(3)
    with torch.inference_mode():
        before = model(input_ids=two_texts()).logits
        network = from_module(model, tokenizer)
        assert network.label == "GPT2LMHeadModel"
        assert torch.equal(model(input_ids=two_texts()).logits, before)
    assert tokenizer.backend_tokenizer.truncation["max_length"] == 3
    assert len(network.trace(TEXT).tokens) > 3


def test_one_whose_weights_want_gradients_is_looked_at_outside_inference_mode() -> None:
    model: Any = build(FAMILIES["GPT-2"]).requires_grad_(True)
    view = from_module(model, TOKENIZERS["GPT-2"]()).ffn(0)
    assert_allclose(view.keys, model.transformer.h[0].mlp.c_fc.weight.detach().mT)
    assert not view.keys.requires_grad


def test_proved_twice_an_edit_is_made_once() -> None:
    model, tokenizer = build(FAMILIES["GPT-2"]), TOKENIZERS["GPT-2"]()
    first = from_module(model, tokenizer)
    edits = [Edit(0, range(9), scale=3.0)]
    expected = first.trace(TEXT, edits).final
    second = from_module(model, tokenizer)
    assert torch.equal(second.trace(TEXT, edits).final, expected)
    assert torch.equal(first.trace(TEXT, edits).final, expected)


def test_a_copy_of_the_network_runs_its_own_weights() -> None:
    """Also where the rest behind the last stream was run: blocks then hand on what is given."""
    model: Any = build(FAMILIES["GPT-2"])
    network = from_module(model, TOKENIZERS["GPT-2"]())
    other = copy.deepcopy(model)
    for weight in other.transformer.h.parameters():
        weight.zero_()
    with torch.inference_mode():
        told = other.transformer.h[0](torch.ones(1, 2, 32))
    assert torch.equal(told, torch.ones(1, 2, 32))  # with no weights a block adds nothing
    assert not torch.equal(network.run(two_texts()).final, network.run(two_texts()).embedding)


def test_weights_that_change_are_seen() -> None:
    model: Any = build(FAMILIES["GPT-2"])
    network = from_module(model, TOKENIZERS["GPT-2"]())
    before = network.trace(TEXT).final
    model.transformer.h[0].mlp.c_proj.weight.data.zero_()
    assert not torch.equal(network.trace(TEXT).final, before)


def test_what_cannot_be_seen_is_refused_in_a_sentence() -> None:
    tokenizer = TOKENIZERS["GPT-2"]()
    with pytest.raises(CannotOpenError, match=r"training mode.*model.eval\(\)"):
        from_module(build(FAMILIES["GPT-2"]).train(), tokenizer)
    with pytest.raises(CannotOpenError, match="Linear: it is not a transformers network"):
        from_module(nn.Linear(2, 2), tokenizer)
    with torch.device("meta"):
        empty = FAMILIES["GPT-2"]().eval()
    with pytest.raises(CannotOpenError, match="on the device meta, where they have no values"):
        from_module(empty, tokenizer)
    with pytest.raises(
        CannotOpenError, match=r"mine: .*not tested with weights of this kind \(float8_e5m2\)"
    ):
        from_module(build(FAMILIES["GPT-2"]).to(torch.float8_e5m2), tokenizer, "mine")
    with pytest.raises(CannotOpenError, match="does not say which characters"):
        from_module(build(FAMILIES["GPT-2"]), object())


def test_a_long_text_is_read_to_the_networks_own_limit() -> None:
    model: Any = long_gpt2()
    network = from_module(model, TOKENIZERS["GPT-2"]())
    assert network.sizes.max_tokens == 300
    trace = network.trace("the cat " * 200)
    assert len(trace.tokens) == 300 > LONGEST
    with torch.inference_mode():
        told = model(input_ids=trace.ids[None]).logits[0]
    assert_allclose(trace.logits, told, atol=2e-5)
    assert network.sizes.trace_nbytes(300) == trace.nbytes - trace.ids.nbytes - told.nbytes
    assert from_module(model, TOKENIZERS["GPT-2"](), longest=200).sizes.max_tokens == 200
    assert ffnviz.show(trace).html.startswith("<!")  # a file keeps the beginning


def test_load_reads_to_the_limit_and_pages_do_not(tmp_path: Path) -> None:
    model: Any = long_gpt2()
    model.save_pretrained(tmp_path)
    TOKENIZERS["GPT-2"]().save_pretrained(tmp_path)
    assert load(tmp_path).sizes.max_tokens == 300
    asked = LoadRequest(str(tmp_path))
    assert open_external(asked, longest=LONGEST).sizes.max_tokens == LONGEST


def test_tables_of_positions_are_tried_and_no_block_behind_the_first_runs() -> None:
    config = T.RobertaConfig(**{**SIZES, "max_position_embeddings": 514}, pad_token_id=1)
    model: Any = build(lambda: T.RobertaForMaskedLM(config))
    ran: list[int] = []
    model.roberta.encoder.layer[1].register_forward_hook(lambda *_: ran.append(1))
    assert longest_text(model, two_texts()) == 512
    assert not ran
    relative = build(FAMILIES["T5's encoder"])
    assert longest_text(relative, two_texts()) == UNSAID
    assert longest_text(relative, two_texts(), 50) == 50


@pytest.mark.parametrize("padding", [0, 1, 2, 3, 40])
def test_the_longest_text_is_the_longest_that_runs_whatever_token_is_padding(padding: int) -> None:
    config = T.RobertaConfig(**{**SIZES, "max_position_embeddings": 514}, pad_token_id=padding)
    model: Any = build(lambda: T.RobertaForMaskedLM(config))
    found = longest_text(model, two_texts())
    assert found == 514 - padding - 1  # its first position is the one after that of padding
    word = torch.tensor([[next(i for i in range(5, 97) if i != padding)]])
    assert model(input_ids=word.expand(1, found)).logits.shape[1] == found
    with pytest.raises((IndexError, RuntimeError), match="index"):
        model(input_ids=word.expand(1, found + 1))


def test_a_stream_that_does_not_fit_is_refused_before_it_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = from_module(long_gpt2(), TOKENIZERS["GPT-2"]())
    monkeypatch.setattr("ffnviz.models.external.memory.RESERVED_BYTES", 1_000)
    monkeypatch.setattr("ffnviz.models.external.memory.free_bytes", lambda _: 20_000)
    assert network.trace("a cat").tokens
    with pytest.raises(MemoryError, match="The stream of 300 tokens takes 192 kB"):
        network.trace("the cat " * 200)


def reuse(layer: nn.Module, by_data: bool) -> None:
    """Have a layer write each result where it wrote the one before."""
    inner, rooms = layer.forward, dict[torch.Size, torch.Tensor]()

    def forward(x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = inner(x)
        room = rooms.setdefault(made.shape, torch.empty_like(made))
        (room.data if by_data else room).copy_(made)
        return room

    layer.forward = forward


class InPlace(nn.Module):
    """ReLU that changes what it reads."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu_()


@pytest.mark.parametrize("way", ["in place", "room used again", "past the version"])
def test_what_a_network_writes_over_is_kept_as_it_was(way: str) -> None:
    relu = lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, "activation_function": "relu"}))  # noqa: E731
    plain, changed = from_module(build(relu), TOKENIZERS["GPT-2"]()), build(relu)
    for block in changed.transformer.h:  # type: ignore[union-attr]
        if way == "in place":
            block.mlp.act = InPlace().eval()
        else:
            reuse(block.mlp.c_fc, by_data=way == "past the version")
    other = from_module(changed, TOKENIZERS["GPT-2"]())
    traces = [(plain.trace(text, hold="all"), other.trace(text, hold="all"))
              for text in (TEXT, "the mat sat on the cat")]  # fmt: skip
    for expected, found in traces:
        for one, same in zip(expected.blocks, found.blocks, strict=True):
            for name, stage in vars(one.ffn).items():
                assert torch.equal(stage, getattr(same.ffn, name)), name
            assert torch.equal(one.output, same.output)
