"""Dictionaries of features: read from a folder, and each equation once more in float64."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from safetensors.numpy import save_file

import ffnviz
from ffnviz.analysis.features import features_of
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.opening import from_module
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.sae import Sae, SaeError
from tests.analysis.causal.networks import KINDS, by_hand, ids_of, network_of_kind, put, seen
from tests.analysis.features.folders import ARCHITECTURES, drawn, encoded, saved
from tests.analysis.networks import network, ours
from tests.models.external.families import FAMILIES, build
from tests.models.external.tokenizers import byte_level, metaspace

TEXT = "The cat sat on the mat."
PLACES = {"hidden": "mlp.hook_post", "ffn": "hook_mlp_out", "attention": "hook_attn_out",
          "heads": "attn.hook_z", "input": "hook_resid_pre", "middle": "hook_resid_mid",
          "output": "hook_resid_post"}  # fmt: skip
FORMS: list[dict[str, Any]] = [
    *({"architecture": each, "k": 3} for each in ARCHITECTURES),
    {"architecture": "topk", "k": 3, "rescale_acts_by_decoder_norm": True},
    {"architecture": "standard", "apply_b_dec_to_input": False},
    {"architecture": "standard", "normalize_activations": "layer_norm"},
    {"architecture": "jumprelu", "normalize_activations": "constant_norm_rescale"},
    {"architecture": "standard", "normalize_activations": "expected_average_only_in"},
]


def wide(net: Network, at: str) -> int:
    if at == "heads":
        n_heads, d_head = net.head_shape(0)
        return n_heads * d_head
    return net.sizes.d_ff if at == "hidden" else net.sizes.d_model


@pytest.mark.parametrize("told", FORMS, ids=str)
def test_features_are_the_equations(
    told: dict[str, Any], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    net = ours(tokenizer)
    weights = drawn(told["architecture"], 16, 40)
    sae = ffnviz.read_sae(saved(tmp_path / "mine", weights, "blocks.1.hook_mlp_out", **told))
    trace = net.trace(TEXT)
    found = ffnviz.sae_features(trace, sae)
    x = trace.blocks[1].ffn.output.double().numpy()
    values, reconstruction = encoded(x, weights, told)
    assert found.values.shape == (len(trace.tokens), 40)
    assert_allclose(found.values, values, atol=2e-5)
    assert_allclose(found.reconstruction, reconstruction, atol=3e-5)
    assert found.active.tolist() == (values > 0).sum(axis=1).tolist()
    missed = ((x - reconstruction) ** 2).sum()
    assert found.unexplained == pytest.approx(missed / ((x - x.mean(axis=0)) ** 2).sum(), rel=1e-4)
    assert (sae.name, sae.block, sae.at, sae.source) == ("mine", 1, "ffn", "1-mlp")


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("at", PLACES)
def test_it_takes_apart_what_a_hook_sees(family: str, at: str, tmp_path: Path) -> None:
    net = network_of_kind(family)
    weights = drawn("standard", wide(net, at), 48)
    folder = saved(tmp_path / "mine", weights, f"blocks.0.{PLACES[at]}")
    sae, ids = ffnviz.read_sae(folder), ids_of(net, TEXT)
    if at == "middle" and family == "GPT-NeoX":
        with pytest.raises(NotForThisNetwork, match="side by side"):
            ffnviz.sae_error(net, TEXT, sae)
        return
    x = seen(family, ids, 0, at).double().numpy()
    values, reconstruction = encoded(x.reshape(-1, x.shape[-1]), weights, {})
    if at in ("ffn", "attention") and net.ffn(0).write_norm is not None:
        with pytest.raises(SaeError, match="behind a norm"):
            features_of(net, net.trace(TEXT), sae)
        return
    found = features_of(net, net.trace(TEXT), sae)
    assert_allclose(found.values, values, atol=1e-4)
    told = ffnviz.sae_error(net, TEXT, sae)
    own = put(torch.tensor(reconstruction, dtype=torch.float32))
    logits = by_hand(family, ids, (0, at, own))
    assert_allclose(told.trace.logits, logits, atol=1e-4)
    p = by_hand(family, ids)[told.token].double().log_softmax(-1)
    none = by_hand(family, ids, (0, at, torch.zeros_like))
    for other, value in ((logits, told.divergence), (none, told.without)):
        q = other[told.token].double().log_softmax(-1)
        assert value == pytest.approx(float((p.exp() * (p - q)).sum()), rel=1e-3, abs=1e-5)
    assert told.kept == pytest.approx(1 - told.divergence / told.without)


@pytest.mark.parametrize("at", ["hidden", "ffn", "heads", "output"])
@pytest.mark.parametrize("name", ["plain", "gated", "stranger"])
def test_a_feature_writes_to_logits(
    name: str, at: str, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    net = network(name, tokenizer)
    weights = drawn("standard", wide(net, at), 20)
    sae = ffnviz.read_sae(saved(tmp_path / "mine", weights, f"blocks.1.{PLACES[at]}"))
    promoted, suppressed = ffnviz.sae_words(net, sae, 7, 5)
    written = weights["W_dec"][7]
    if at == "heads":
        heads = net.heads(1).outputs.double().numpy()
        written = np.einsum("hd,hdm->m", written.reshape(heads.shape[:2]), heads)
    if at == "hidden":
        written = written @ net.ffn(1).values.double().numpy()
    assert net.head
    assert net.head.words
    norm = net.head.norm
    if norm is not None:
        written = (written - written.mean() * norm.centred) * norm.gain.double().numpy()
    scores = net.head.words.vectors.double().numpy() @ written
    assert_allclose(scores[promoted.ids], promoted.scores, atol=1e-4)
    scores = np.sort(np.delete(scores, list(net.tokenizer.special_ids)))
    assert_allclose(promoted.scores, scores[::-1][:5], atol=1e-4)
    assert_allclose(suppressed.scores, scores[:5], atol=1e-4)
    with pytest.raises(ValueError, match="There is no feature 20: features are numbered from 0 to"):
        ffnviz.sae_words(net, sae, 20)


def test_one_that_does_not_fit_the_network_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    net = ours(tokenizer)
    for hook, d_in, why in (
        ("blocks.2.hook_mlp_out", 16, "is of block 2"),
        ("blocks.0.hook_mlp_out", 32, "vectors of 32 components"),
        ("blocks.0.mlp.hook_post", 16, "vectors of 16 components"),
    ):
        sae: Sae = ffnviz.read_sae(saved(tmp_path / hook, drawn("standard", d_in, 9), hook))
        with pytest.raises(ValueError, match=why):
            ffnviz.sae_features(net.trace(TEXT), sae)
    sae = ffnviz.read_sae(saved(tmp_path / "a", drawn("standard", 16, 20), "blocks.0.hook_mlp_out"))
    found = ffnviz.sae_features(net.trace("a"), sae)
    assert len(found.missed) == len(found.values)
    if len(found.values) == 1:  # one token has no mean to miss
        assert np.isnan(found.unexplained)


def test_a_dictionary_behind_a_token_of_its_own_says_where_a_text_has_none(tmp_path: Path) -> None:
    folder = saved(tmp_path / "a", drawn("standard", 32, 40), "blocks.0.hook_mlp_out",
                   prepend_bos=True)  # fmt: skip
    sae = ffnviz.read_sae(folder)
    assert sae.prepend_bos
    bare = from_module(build(FAMILIES["GPT-2"]), byte_level(), "GPT-2")
    with pytest.warns(UserWarning, match="a was trained on texts that begin with a special token"):
        found = ffnviz.sae_features(bare.trace("the cat sat"), sae)
    x, made = found.x[1:].double(), found.reconstruction[1:].double()
    left = (x - made).square().sum() / (x - x.mean(dim=0)).square().sum()
    assert found.unexplained == pytest.approx(float(left))
    for call in (lambda: ffnviz.sae_error(bare, "the cat sat", sae),
                 lambda: ffnviz.sae_examples(bare, sae, ["the cat sat"])):  # fmt: skip
        with pytest.warns(UserWarning, match="most of all on the first token"):
            call()
    begun = from_module(build(FAMILIES["Llama"]), metaspace(), "Llama")
    trace = begun.trace("the cat sat")
    assert trace.tokens[0].special, "this tokenizer puts one there"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ffnviz.sae_features(trace, sae).n_left_out == 1
        ffnviz.sae_features(bare.trace("the cat sat"), replace(sae, prepend_bos=False))


def test_a_mean_out_of_the_weights_is_set_aside(tokenizer: Tokenizer, tmp_path: Path) -> None:
    net, weights = ours(tokenizer), drawn("standard", 16, 40)
    folder = saved(tmp_path / "a", weights, "blocks.0.hook_resid_post")
    config = json.loads((folder / "cfg.json").read_text())
    config["metadata"]["model_from_pretrained_kwargs"] = {"center_writing_weights": True}
    (folder / "cfg.json").write_text(json.dumps(config))
    found = features_of(net, net.trace(TEXT), ffnviz.read_sae(folder))
    x = net.trace(TEXT).blocks[0].output.double().numpy()
    mean = x.mean(axis=1, keepdims=True)
    values, reconstruction = encoded(x - mean, weights, {})
    assert_allclose(found.values, values, atol=2e-5)
    assert_allclose(found.reconstruction, reconstruction + mean, atol=2e-5)
    assert ffnviz.read_sae(folder).centred
    assert not ffnviz.read_sae(folder, centred=False).centred


def test_examples_are_the_strongest_of_all_texts(tokenizer: Tokenizer, tmp_path: Path) -> None:
    net, weights = ours(tokenizer), drawn("jumprelu", 32, 30)
    told: dict[str, Any] = {"architecture": "jumprelu"}
    sae = ffnviz.read_sae(saved(tmp_path / "a", weights, "blocks.1.mlp.hook_post", **told))
    texts = [TEXT, "She had two dogs.", "Gone.", "to the river with a mat", "and she sat"]
    each = [encoded(net.trace(text).blocks[1].ffn.hidden.double().numpy(), weights, told)[0]
            for text in texts]  # fmt: skip
    best = np.stack([values.max(axis=0) for values in each])
    for k in (1, 4):
        done: list[int] = []
        found = ffnviz.sae_examples(net, sae, iter(texts), k, done.append)
        assert_allclose(found.values, -np.sort(-best, axis=0)[:k], atol=2e-5)
        for rank, feature in (found.values > 1e-3).nonzero().tolist():
            text, token = int(found.texts[rank, feature]), int(found.tokens[rank, feature])
            value = float(found.values[rank, feature])
            assert each[text][token, feature] == pytest.approx(value, abs=2e-5)
        assert found.active.tolist() == sum((v > 0).sum(axis=0) for v in each).tolist()
        assert found.n_tokens == sum(map(len, each))
        assert (found.read, done) == (tuple(texts), [1, 2, 3, 4, 5])


def test_the_form_before_sae_lens_6_is_read(tmp_path: Path) -> None:
    hook = "blocks.3.hook_resid_pre"
    told: dict[str, Any] = {"activation_fn_str": "topk", "activation_fn_kwargs": {"k": 7}}
    sae = ffnviz.read_sae(saved(tmp_path / "a", drawn("topk", 8, 12), hook, old=True, **told))
    assert (sae.block, sae.at, sae.architecture, sae.k) == (3, "input", "topk", 7)
    assert (sae.trained_on, sae.d_in, sae.d_sae) == ("tiny", 8, 12)
    assert "block 4" in sae.where


def test_what_is_not_known_or_damaged_is_refused_in_a_sentence(tmp_path: Path) -> None:
    weights, out = drawn("standard", 8, 12), "blocks.0.hook_mlp_out"
    with pytest.raises(SaeError, match="a folder of sae_lens has"):
        ffnviz.read_sae(tmp_path / "none")
    unknown: list[tuple[str, dict[str, Any], str]] = [
        ("blocks.0.attn.hook_q", {}, "is of “blocks.0.attn.hook_q”; only"),
        ("", {}, "is of “”; only"),
        (out, {"architecture": "temporal"}, "is “temporal”; only"),
        (out, {"architecture": "topk"}, "does not give k"),
        (out, {"architecture": "jumprelu"}, "has no threshold"),
        (out, {"activation_fn": "tanh-relu"}, "only relu can be read"),
        (out, {"hook_name_out": "x"}, "is a transcoder"),
    ]
    for hook, told, why in unknown:
        folder = saved(tmp_path / "a", weights, hook, **told)
        with pytest.raises(SaeError, match=why):
            ffnviz.read_sae(folder)
    for name, array, why in (
        ("b_enc", np.zeros(13), "b_enc has the shape"),
        ("W_dec", np.zeros((8, 12)), "W_dec has the shape"),
        ("W_enc", np.zeros(8), "W_enc has the shape"),
        ("b_dec", np.full(8, np.nan), "entries that are not finite"),
        ("scaling_factor", np.full(12, 2.0), "fine-tuned with a scaling_factor"),
    ):
        folder = saved(tmp_path / name, weights, out)
        arrays = {key: value.astype(np.float32) for key, value in (weights | {name: array}).items()}
        save_file(arrays, folder / "sae_weights.safetensors")
        with pytest.raises(SaeError, match=why):
            ffnviz.read_sae(folder)
    (folder / "sae_weights.safetensors").write_bytes(b"no tensors")
    with pytest.raises(SaeError, match="cannot be read"):
        ffnviz.read_sae(folder)
    for text in ("{", "[]", "[" * 10_000):
        (folder / "cfg.json").write_text(text)
        with pytest.raises(SaeError, match=r"is not JSON|is not a config"):
            ffnviz.read_sae(folder)
