"""What is opened of a checkpoint: the head that its weights have, its encoder, what it can read."""

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from tokenizers import processors
from torch import nn

import ffnviz
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, use
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module, open_external
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.network import UnreadableTextError
from ffnviz.state import run_factory
from tests.models.external.families import FAMILIES, HEADS, IDS, SIZES, T5, WIDE, build
from tests.models.external.folders import change_weights, configure, save, save_with
from tests.models.external.tokenizers import byte_level, metaspace
from tests.parts.visits import opened
from tests.sent_cells import said, sent_cells

# A network opens with the word head that its weights have, whatever its file calls it.

EYE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "image_size": 28, "patch_size": 14,
}  # fmt: skip
QWEN_EYE: dict[str, Any] = {
    "depth": 1, "hidden_size": 32, "num_heads": 2, "intermediate_size": 32, "out_hidden_size": 32,
}  # fmt: skip
ROPE = {"rope_type": "default", "mrope_section": [2, 1, 1]}
WITH_EYES: dict[str, Callable[[], nn.Module]] = {
    "Gemma 3": lambda: T.Gemma3ForConditionalGeneration(T.Gemma3Config(
        text_config={**WIDE, **IDS}, vision_config=EYE, mm_tokens_per_image=4,
        image_token_index=96, boi_token_index=95, eoi_token_index=94)),
    "Qwen 2.5 VL": lambda: T.Qwen2_5_VLForConditionalGeneration(T.Qwen2_5_VLConfig(
        text_config={**HEADS, **IDS, "rope_parameters": ROPE}, vision_config=QWEN_EYE,
        image_token_id=96)),
}  # fmt: skip


def _logits_are_the_networks_own(folder: Path, model: Any) -> ExternalNetwork:
    network = open_external(NetworkRequest(str(folder)))
    trace = network.trace("the cat sat")
    assert network.card.has_word_head
    with torch.inference_mode():
        assert torch.allclose(trace.logits, model(input_ids=trace.ids[None]).logits[0], atol=1e-6)
    return network


@pytest.mark.parametrize("name", WITH_EYES)
def test_a_network_that_also_reads_pictures_predicts_words(name: str, tmp_path: Path) -> None:
    model = build(WITH_EYES[name])
    save_with(model, tmp_path, metaspace)
    assert _logits_are_the_networks_own(tmp_path, model).card.causal


@pytest.mark.parametrize(("family", "architectures"), [
    ("BERT", None), ("BERT", ["SomebodysOwn"]), ("GPT-2", []), ("GPT-2", ["SomebodysOwn"]),
    ("Llama", None), ("Llama", ["LlamaModel"]),
])  # fmt: skip
def test_the_head_is_that_of_the_weights_whatever_the_file_names(
    family: str, architectures: list[str] | None, tmp_path: Path
) -> None:
    configure(save(family, tmp_path), architectures=architectures)
    network = _logits_are_the_networks_own(tmp_path, build(FAMILIES[family]))
    n = sum(weight.numel() for weight in network.model.parameters())
    assert f"{n:,} parameters" in network.about


def test_where_the_weights_have_no_head_there_is_none(tmp_path: Path) -> None:
    save("BERT without a head", tmp_path)
    for architectures in (None, ["BertModel"], ["BertForMaskedLM"]):
        configure(tmp_path, architectures=architectures)
        network = open_external(NetworkRequest(str(tmp_path)))
        assert network.head is None
        assert not network.card.has_word_head
    change_weights(tmp_path, lambda weights: weights.update({"speaks.weight": torch.ones(97, 32)}))
    with pytest.raises(CannotOpenError, match=r"speaks\.weight in its weights looks like a word"):
        open_external(NetworkRequest(str(tmp_path)))


def test_a_word_that_the_vocabulary_has_behind_a_space_too_is_pointed_to() -> None:
    network = from_module(build(FAMILIES["GPT-2"]), byte_level(), "mine")
    with pytest.warns(UserWarning, match="'t' and ' t' are two entries"):
        ffnviz.logit_difference(network, "t", " t")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ffnviz.logit_difference(network, " t", ".")
        ffnviz.logit_difference(ffnviz.load("relu"), "do", "does")  # it writes the space itself


# Of a network that has an encoder and a decoder, the encoder is opened.

BART: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 88, "decoder_ffn_dim": 88, "vocab_size": 97,
    "max_position_embeddings": 64, "pad_token_id": 0, "decoder_start_token_id": 1,
}  # fmt: skip
WITH_DECODERS: dict[str, Callable[[], Any]] = {
    "BART": lambda: T.BartForConditionalGeneration(T.BartConfig(**BART)),
    # Its table of positions is computed, and in no file.
    "Marian": lambda: T.MarianMTModel(T.MarianConfig(**BART)),
    "T5": lambda: T.T5ForConditionalGeneration(T.T5Config(**T5)),
    "T5Gemma": lambda: T.T5GemmaForConditionalGeneration(
        T.T5GemmaConfig(encoder=WIDE, decoder=WIDE, vocab_size=97)),
    "BERT to BERT": lambda: T.EncoderDecoderModel(
        T.EncoderDecoderConfig.from_encoder_decoder_configs(
            T.BertConfig(**SIZES), T.BertConfig(**SIZES))),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_DECODERS)
def test_its_streams_are_those_of_the_whole_networks_encoder(name: str, tmp_path: Path) -> None:
    model: Any = build(WITH_DECODERS[name])
    save_with(model, tmp_path, metaspace)
    whole, lines = type(model).from_pretrained(tmp_path).eval(), list[str]()
    network = open_external(NetworkRequest(str(tmp_path)), say=lines.append)
    assert "its encoder, which reads the text, is shown without its decoder" in lines[0]
    assert "without its decoder" in network.card.proof[0]
    trace = network.trace("the cat sat on the mat")
    with torch.inference_mode():
        streams = whole.get_encoder()(trace.ids[None], output_hidden_states=True).hidden_states
    for block, before in zip(trace.blocks, streams, strict=False):
        assert torch.allclose(block.input, before[0], atol=1e-6)
    assert not network.card.causal
    assert network.head is None


def _without(folder: Path, part: str) -> None:
    change_weights(folder, lambda w: [w.pop(name) for name in list(w) if part in name])


def test_only_what_its_encoder_lacks_is_missed(tmp_path: Path) -> None:
    save_with(build(WITH_DECODERS["BART"]), tmp_path, metaspace)
    _without(tmp_path, "decoder.layers.1.fc1")
    open_external(NetworkRequest(str(tmp_path)))
    _without(tmp_path, "encoder.layers.1.fc1")
    with pytest.raises(CannotOpenError, match=r"missing, first encoder.layers.1.fc1.bias"):
        open_external(NetworkRequest(str(tmp_path)))


def test_an_encoder_that_is_no_network_of_its_own_is_named(tmp_path: Path) -> None:
    sizes = {name: size for name, size in BART.items() if name != "vocab_size"}
    fsmt = T.FSMTConfig(langs=["en", "de"], src_vocab_size=97, tgt_vocab_size=97, **sizes)
    save_with(build(lambda: T.FSMTForConditionalGeneration(fsmt)), tmp_path, metaspace)
    with pytest.raises(CannotOpenError, match=r"FSMTEncoder. cannot be run by itself"):
        open_external(NetworkRequest(str(tmp_path)))


# A tokenizer may have more entries than the network has vectors, as that of Gemma 3.

BEHIND = "<image_soft_token>"


def words_with(entry: str) -> Any:
    """A tokenizer with one special entry behind the 97 that have vectors."""
    words = metaspace()
    words.add_tokens([f"<unused{i}>" for i in range(97 - len(words))], special_tokens=True)
    words.add_tokens([entry], special_tokens=True)
    return words


def test_it_opens_and_refuses_only_the_text_that_has_the_entry() -> None:
    network = from_module(build(FAMILIES["Llama"]), words_with(BEHIND))
    trace = network.trace("the cat sat")
    assert [token.text for token in trace.tokens] == ["", "the", " cat", " sat"]
    with torch.inference_mode():
        own = network.model(input_ids=trace.ids[None]).logits[0]
    assert torch.equal(trace.logits, own)
    assert max(network.tokenizer.special_ids) == 96
    for read in (network.trace, lambda text: list(network.traces([text]))):
        with pytest.raises(ValueError, match=f"“{BEHIND}”.*no vector for it. Leave it out"):
            read(f"the {BEHIND} sat")
    with pytest.raises(UnreadableTextError):
        network.tokenizer.encode_many(["the cat", BEHIND])


def test_an_ordinary_entry_or_a_beginning_behind_the_vectors_cannot_be_read() -> None:
    model: Any = copy.deepcopy(build(FAMILIES["Llama"]))
    model.resize_token_embeddings(60)
    with pytest.raises(CannotOpenError, match="69 entries and the network only 60 word vectors"):
        from_module(model.eval(), metaspace())
    words = words_with("<begin>")
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<begin> $A", special_tokens=[("<begin>", 97)]
    )
    with pytest.raises(CannotOpenError, match=r"no text can be read.*“<begin>”"):
        from_module(build(FAMILIES["Llama"]), words)


def test_the_page_says_so_and_keeps_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save_with(build(FAMILIES["Llama"]), tmp_path / "net", lambda: words_with(BEHIND))
    monkeypatch.setattr(registry, "_OPENED", {})
    use(Config((NetworkRequest(str(folder)),)))
    run_factory.forget_networks()
    typed = f"the {BEHIND} sat"
    app = opened("", text=typed, twin="net")
    why = f"net cannot read this sentence. The tokenizer knows “{BEHIND}”"
    assert why in said(app, "empty")
    assert app.text_input[0].value == typed
    app = opened("block", text="the cat", twin="net", part="decoder", written=typed)
    assert "empty" not in sent_cells(app)
    assert "empty" not in sent_cells(opened("", text="the cat", twin="net"))
    run_factory.forget_networks()
