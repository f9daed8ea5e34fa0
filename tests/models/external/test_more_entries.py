"""A tokenizer with more entries than the network has vectors, as that of Gemma 3."""

import copy
from pathlib import Path

import pytest
import torch

import ffnviz
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, config, use
from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.opening import open_external
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.network import UnreadableTextError
from ffnviz.state import run_factory
from tests.models.external.families import FAMILIES, build
from tests.models.external.folders import save
from tests.models.external.tokenizers import metaspace
from tests.parts.visits import opened
from tests.sent_cells import said, sent_cells

BEHIND = "<image_soft_token>"


def with_entry_behind(folder: Path) -> Path:
    """A Llama with one special entry more than it has vectors."""
    save("Llama", folder)
    words = metaspace()
    words.add_tokens([f"<unused{i}>" for i in range(97 - len(words))], special_tokens=True)
    words.add_tokens([BEHIND], special_tokens=True)
    words.save_pretrained(folder)
    return folder


def test_it_opens_and_refuses_only_the_text_that_has_the_entry(tmp_path: Path) -> None:
    network = open_external(LoadRequest(str(with_entry_behind(tmp_path / "net"))))
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


def test_an_ordinary_entry_behind_the_vectors_is_of_another_network() -> None:
    model = copy.deepcopy(build(FAMILIES["Llama"]))
    model.resize_token_embeddings(60)  # type: ignore[operator]
    model.eval()
    with pytest.raises(CannotOpenError, match="69 entries and the network only 60 word vectors"):
        ffnviz.from_module(model, metaspace())


def test_a_beginning_without_a_vector_leaves_no_text_to_read() -> None:
    from tokenizers import processors

    words = metaspace()
    words.add_tokens([f"<unused{i}>" for i in range(97 - len(words))], special_tokens=True)
    words.add_tokens(["<begin>"], special_tokens=True)
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<begin> $A", special_tokens=[("<begin>", 97)]
    )
    with pytest.raises(CannotOpenError, match=r"no text can be read.*“<begin>”"):
        ffnviz.from_module(build(FAMILIES["Llama"]).eval(), words)


def test_the_page_says_so_and_keeps_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_OPENED", {})
    before = config()
    use(Config((NetworkRequest(str(with_entry_behind(tmp_path / "net"))),)))
    run_factory.forget_networks()
    try:
        typed = f"the {BEHIND} sat"
        app = opened("", text=typed, twin="net")
        why = f"net cannot read this sentence. The tokenizer knows “{BEHIND}”"
        assert why in said(app, "empty")
        assert app.text_input[0].value == typed
        app = opened("block", text="the cat", twin="net", part="decoder", written=typed)
        assert "empty" not in sent_cells(app)
        app = opened("", text="the cat", twin="net")
        assert "empty" not in sent_cells(app)
    finally:
        use(before)
        run_factory.forget_networks()
