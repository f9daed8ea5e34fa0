"""What a notebook is answered that asks for what cannot be: a sentence, and at once.

In a process of its own: here a hook checks the types of all that is handed to the model.
"""

import json
import subprocess
import sys
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import torch

import ffnviz

PROGRAM = """
import json, sys
import torch
import ffnviz

if sys.argv[2] == "relu":
    model, text = ffnviz.load("relu"), "The cat sat on the [MASK]."
else:
    from tests.models.external.families import FAMILIES, build
    from tests.models.external.tokenizers import byte_level
    model, text = ffnviz.from_module(build(FAMILIES[sys.argv[2]]), byte_level()), "the cat sat"
trace = model.trace(text)
measure = ffnviz.logit_difference(model, 5, 9)
wide, direction = torch.zeros(model.sizes.d_ff), torch.zeros(model.sizes.d_model)
eye = torch.eye(len(wide))
answers = {}
for asked in json.loads(sys.argv[1]):
    try:
        eval(asked)
        answers[asked] = ["nothing", ""]
    except Exception as error:
        answers[asked] = [type(error).__name__, str(error)]
print(json.dumps(answers))
"""
WRONG = {
    "model.trace(None)": ("TypeError", "A text is a str, and this is of type NoneType."),
    "model.trace(['a', 'b'])": ("TypeError", "of type list. For several texts, use `traces`"),
    "model.trace(b'x')": ("TypeError", "this is of type bytes"),
    "model.trace('')": ("ValueError", "The text is empty"),
    "model.run([99999])": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.run(torch.tensor([0.5]))": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.run(torch.tensor([1, 99999]))": ("ValueError", "no entry 99999 in the vocabulary"),
    "model.run(torch.tensor([-1]))": ("ValueError", "no entry -1 in the vocabulary"),
    "trace.logits_at(99)": ("IndexError", "There is no token 99: tokens are numbered from 0 to "),
    "ffnviz.load('')": ("ValueError", "The name is empty: give relu, gelu, a folder"),
    "ffnviz.load('relu', dtype='bfloat16')": ("ValueError", "is one of ours: it has float32"),
    "ffnviz.load('relu', dtype=torch.bfloat16)": ("ValueError", "is one of ours: it has float32"),
    "ffnviz.load('relu', revision='main')": ("ValueError", "Leave out revision."),
    "ffnviz.load('relu', dtype=torch.float16)": (
        "ValueError", "dtype = torch.float16 is not allowed: it must be float32 or bfloat16"),
    "ffnviz.load('relu', dtype=torch.float32)": ("nothing", ""),
    "ffnviz.load('relu', device='nowhere')": ("RuntimeError", "'nowhere' cannot be used here"),
    "ffnviz.load('relu', device='cuda:77')": ("RuntimeError", "'cuda:77' cannot be used here"),
}  # fmt: skip
# Of our networks and of others', alike.
OF_ANY = {
    "model.run(torch.tensor([True, False]))": ("TypeError", "ids must be a tensor of whole"),
    "model.run(torch.tensor([1, 2], dtype=torch.uint8))": ("nothing", ""),
    "model.run(torch.tensor([1, 2], dtype=torch.uint16))": ("nothing", ""),
    "list(model.walk([1, 2]))": ("TypeError", "ids must be a tensor of whole numbers"),
    "list(model.walk(torch.tensor([99999])))": ("ValueError", "There is no entry 99999"),
    "model.show_hidden(torch.tensor([99999]), [0], print)": ("ValueError", "no entry 99999"),
    "model.show_hidden(trace.ids, [99], print)": ("ValueError", "There is no block 99"),
    "model.show_hidden(trace.ids, [-1], len)": ("nothing", ""),
    "model.show_hidden(trace.ids, 1, len)": ("nothing", ""),
    "model.show_hidden(trace.ids, [], len)": ("nothing", ""),
    "model.logits_with_gradients([1])": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.logits(torch.zeros(3))": ("ValueError", "rows has the shape (3,): its last size"),
    "model.logits([1.0])": ("TypeError", "rows must be a tensor of floating-point numbers"),
    "model.ffn(99)": ("ValueError", "There is no block 99: blocks are numbered from 0 to 1"),
    "model.heads('a')": ("ValueError", "block = 'a': give one whole number, from 0"),
    "model.head_shape(99)": ("ValueError", "There is no block 99: blocks are numbered from 0 to 1"),
    "model.ffn(0).neuron(direction, 99999)": ("ValueError", "There is no neuron 99999"),
    "model.stream_with(trace, 99, direction)": ("ValueError", "There is no block 99"),
    "model.embedding_parts(trace, 99)": ("ValueError", "There is no token 99"),
    "ffnviz.Trace.cat(trace)": ("TypeError", "Give traces in a list, even a single one: [trace]."),
    "ffnviz.Trace.cat(None)": ("TypeError", "Give traces in a list, even a single one: [trace]."),
    "ffnviz.Trace.cat([1])": ("TypeError", "There is a int among them: give traces of texts."),
    "ffnviz.ablate(trace, text, measure, 0)": ("TypeError", "network = Trace("),
    "ffnviz.patch(text, text, text, 0)": ("TypeError", "give a network, as ffnviz.load"),
    "ffnviz.contrast(trace, [text], [text], 0)": ("TypeError", "give a network, as ffnviz.load"),
    "ffnviz.ablate(model, text, None, 0)": ("TypeError", "measure = None: give a function of"),
    "ffnviz.ablate(model, text, type(measure)(99999), 0)": (
        "ValueError", "There is no entry 99999"),
    "ffnviz.ablate(model, text, measure, 0, how='resample', reference=[text], draws=2.5)": (
        "ValueError", "draws = 2.5: give a whole number, 2 or more."),
    "ffnviz.ablate(model, text, measure, 0, how='resample', reference=[text], seed='a')": (
        "ValueError", "seed = 'a': give a whole number, 0 or more."),
    "ffnviz.steer(model, text, None, 0)": ("TypeError", "direction = None: give a tensor"),
    "ffnviz.steer(model, text, direction)": ("TypeError", "say into which block a direction is"),
    "ffnviz.steer(model, text, direction, 0, 'a')": ("ValueError", "strength = 'a': give one"),
    "ffnviz.logit_attribution(model, measure)": ("TypeError", "give the trace of one text"),
    "ffnviz.logit_attribution(ffnviz.Trace.cat([trace]), measure)": (
        "TypeError", "trace = JoinedTrace(1"),
    "ffnviz.logit_attribution(model.run(trace.ids), measure)": ("TypeError", "trace = StreamTr"),
    "ffnviz.logit_attribution(trace, len)": ("TypeError", "only a logit, or a difference of two"),
    "ffnviz.neuron_paths(model, 0, 0, 1)": ("TypeError", "give the trace of one text"),
    "ffnviz.gradient_attribution(model, text, lambda l: 1.0)": (
        "TypeError", "of each row of logits"),
    "ffnviz.gradient_attribution(model, text, lambda l: l.detach()[..., 0])": (
        "ValueError", "This measure has no gradient"),
    "ffnviz.logit_difference(model, None)": ("TypeError", "word = None: give a word's text"),
    "ffnviz.logit_difference(model, True)": ("TypeError", "word = True: give a word's text"),
    "ffnviz.logit_difference(model, -1)": ("ValueError", "There is no entry -1"),
    "ffnviz.Sae('n', 1, 'there', 'standard', w_enc=eye, w_dec=eye, b_dec=wide, b_enc=wide)": (
        "SaeError", "at = 'there' is not allowed: one of hidden, ffn"),
    "ffnviz.Sae('n', 1, 'hidden', 'other', w_enc=eye, w_dec=eye, b_dec=wide, b_enc=wide)": (
        "SaeError", "architecture = 'other' is not allowed: one of standard"),
    "ffnviz.Sae('n', 1, 'hidden', 'jumprelu', w_enc=eye, w_dec=eye, b_dec=wide, b_enc=wide)": (
        "SaeError", "n is a jumprelu one, and lacks its threshold."),
    "ffnviz.Sae('n', 1, 'hidden', 'standard', w_enc=eye, w_dec=eye[1:], b_dec=wide, b_enc=wide)": (
        "SaeError", "n: w_dec is ("),
    "ffnviz.sae_features(trace, 'n')": ("TypeError", "sae = 'n': give a dictionary"),
    "ffnviz.load(None)": ("TypeError", "name = None: give relu, gelu, a folder, or a name"),
    "ffnviz.write_descriptions(['a'], 'said')": ("TypeError", "There is 'a' among them: give"),
}  # fmt: skip


@cache
def answers(network: str) -> dict[str, Any]:
    asked = list(OF_ANY | WRONG if network == "relu" else OF_ANY)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, json.dumps(asked), network],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("asked", WRONG)
def test_a_wrong_call_is_answered_in_a_sentence(asked: str) -> None:
    kind, said = WRONG[asked]
    assert answers("relu")[asked][0] == kind, answers("relu")[asked]
    assert said in answers("relu")[asked][1]


@pytest.mark.parametrize("network", ["relu", "GPT-2", "Llama"])
@pytest.mark.parametrize("asked", OF_ANY)
def test_ours_and_others_answer_alike(network: str, asked: str) -> None:
    if network != "relu":
        pytest.importorskip("transformers")
    kind, said = OF_ANY[asked]
    assert answers(network)[asked][0] == kind, answers(network)[asked]
    assert said in answers(network)[asked][1]


@pytest.mark.parametrize("family", ["GPT-2", "BERT"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_network_moved_to_another_dtype_is_measured_there(
    family: str, dtype: torch.dtype
) -> None:
    pytest.importorskip("transformers")
    from tests.analysis.causal.networks import network_of_kind

    network = deepcopy(network_of_kind(family))
    network.model.to(dtype)
    measure, text = ffnviz.logit_difference(network, 5, 9), "the cat sat"
    off = ffnviz.ablate(network, text, measure, 1, at="ffn", token=1)
    found = ffnviz.gradient_attribution(network, text, measure, token=1)
    with torch.no_grad():
        told = network.model(input_ids=network.trace(text).ids[None])
    logits = told.logits[0, 1].to(torch.promote_types(dtype, torch.float32))
    assert off.plain == pytest.approx(float(measure(logits)), rel=1e-5, abs=1e-5)
    assert found.gradient.isfinite().all()
    assert (found.gradient.dtype == torch.float64) == (dtype == torch.float64)


def test_texts_of_special_tokens_alone_are_no_reference() -> None:
    pytest.importorskip("transformers")
    from tests.analysis.causal.networks import network_of_kind

    network = network_of_kind("BERT")
    for how in ("mean", "resample"):
        with pytest.raises(ValueError, match="no tokens but the tokenizer's own"):
            ffnviz.ablate(
                network, "the cat", lambda logits: logits[..., 5], 1,
                how=how, reference=[" "], token=1,
            )  # fmt: skip


def test_a_contrast_knows_where_it_is_added() -> None:
    model = ffnviz.load("relu")
    texts, others = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]
    found = ffnviz.contrast(model, texts, others, 0, at="middle")
    steered = ffnviz.steer(model, "It was [MASK].", found, strength=2.0)
    asked = ffnviz.steer(model, "It was [MASK].", found.direction, 0, 2.0, at="middle")
    assert torch.equal(steered.logits, asked.logits)
    assert not torch.equal(steered.logits, model.trace("It was [MASK].").logits)
