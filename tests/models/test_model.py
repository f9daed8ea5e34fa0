"""ffnviz.load and Model.trace: what a notebook and every page begin with."""

import dataclasses
import shutil
from pathlib import Path

import pytest
import torch

import ffnviz
from ffnviz.models.encoder import model as model_module
from ffnviz.models.encoder.model import Model
from tests.models.awkward import AWKWARD

SENTENCE = "The cat sat on the [MASK]."


@pytest.fixture(scope="module")
def model(model_folder: Path) -> Model:
    model = ffnviz.load(model_folder)
    assert isinstance(model, Model)
    return model


def test_a_trace_is_what_the_encoder_computes_for_the_ids(model: Model) -> None:
    trace = model.trace(SENTENCE)
    ids = model.tokenizer.encode(SENTENCE).ids
    assert trace.ids.tolist() == ids
    batch = model.encoder(torch.tensor([ids]))
    torch.testing.assert_close(trace.logits, batch.logits[0], atol=1e-6, rtol=0)
    for alone, batched in zip(trace.blocks, batch.blocks, strict=True):
        torch.testing.assert_close(alone.ffn.hidden, batched.ffn.hidden[0], atol=1e-6, rtol=0)


def test_a_trace_knows_its_text_and_tokens(model: Model) -> None:
    trace = model.trace(SENTENCE)
    assert trace.text == SENTENCE
    assert "".join(token.text for token in trace.tokens) == SENTENCE
    assert [token.id for token in trace.tokens] == trace.ids.tolist()
    assert trace.n_left_out == 0
    assert trace.left_out == ""


def test_all_stages_of_a_trace_have_the_documented_shapes(model: Model) -> None:
    trace = model.trace(SENTENCE)
    n = len(trace.tokens)
    assert trace.embedding.shape == trace.final.shape == (n, 16)
    assert trace.logits.shape == (n, 300)
    for block in trace.blocks:
        assert block.attention.weights.shape == (2, n, n)
        assert block.ffn.pre_activation.shape == block.ffn.hidden.shape == (n, 32)
        assert block.attention.output.shape == block.ffn.output.shape == (n, 16)
        assert block.input.shape == block.middle.shape == block.output.shape == (n, 16)


def test_a_trace_is_frozen_and_keeps_no_gradient(model: Model) -> None:
    trace = model.trace(SENTENCE)
    assert not trace.logits.requires_grad
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.logits = trace.final  # type: ignore[misc]


def test_the_same_text_gives_the_same_trace_to_the_bit(model: Model) -> None:
    assert torch.equal(model.trace(SENTENCE).logits, model.trace(SENTENCE).logits)


def test_a_text_that_fills_all_positions_is_traced_whole(model: Model) -> None:
    trace = model.trace("[MASK]" * 128)
    assert len(trace.tokens) == 128
    assert trace.n_left_out == 0


def test_a_longer_text_is_cut_and_what_was_left_out_is_reported(model: Model) -> None:
    text = "the cat and " * 100
    trace = model.trace(text)
    n_all = len(model.tokenizer.encode(text).ids)
    assert len(trace.tokens) == trace.logits.shape[0] == 128
    assert trace.n_left_out == n_all - 128 > 0
    assert "".join(token.text for token in trace.tokens) + trace.left_out == text
    fitting = model.trace(text[: -len(trace.left_out)])
    torch.testing.assert_close(trace.logits, fitting.logits, atol=1e-6, rtol=0)


def test_the_empty_text_is_refused_in_words(model: Model) -> None:
    with pytest.raises(ValueError, match="text is empty"):
        model.trace("")


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_other_text_can_be_traced(model: Model, text: str) -> None:
    trace = model.trace(text)
    assert trace.logits.isfinite().all()
    assert "".join(token.text for token in trace.tokens) + trace.left_out == text


def test_a_model_is_loaded_by_its_folder_as_path_or_text(model_folder: Path) -> None:
    for folder in (model_folder, str(model_folder)):
        model = ffnviz.load(folder)
        assert isinstance(model, Model)
        assert model.name == "tiny"
        assert model.device == torch.device("cpu")
        assert model.token_counts.tolist() == list(range(300))


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_a_twin_is_loaded_by_its_name(
    twin: str, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model_folder, tmp_path / twin)
    monkeypatch.setattr(model_module, "MODELS", tmp_path)
    assert ffnviz.load(twin).name == twin


def test_a_name_that_is_no_twin_and_no_folder_is_refused() -> None:
    with pytest.raises(ffnviz.ModelFolderError, match="no-such-model: there is no such folder"):
        ffnviz.load(Path("no-such-model"))


def test_a_device_that_is_not_there_is_refused_by_pytorch(model_folder: Path) -> None:
    with pytest.raises(RuntimeError, match="abacus"):
        ffnviz.load(model_folder, device="abacus")
