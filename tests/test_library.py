"""What a notebook is answered that asks for what cannot be: a sentence, and at once.

Ours is asked in a process of its own: here a hook checks the types of what it is handed.
"""

import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import ffnviz
from ffnviz.models.token_slice import token_slice


def answers(model: ffnviz.Network, text: str, calls: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The error that each call raises, and its message; ("nothing", "") where none is."""
    trace = model.trace(text)
    measure = ffnviz.logit_difference(model, 5, 9)
    wide, direction = torch.zeros(model.sizes.d_ff), torch.zeros(model.sizes.d_model)
    eye = torch.eye(len(wide))
    same: dict[str, Any] = {"w_enc": eye, "w_dec": eye, "b_dec": wide, "b_enc": wide}
    sae = ffnviz.Sae("n", 1, "hidden", "standard", **same)
    named = {name: getattr(ffnviz, name) for name in ffnviz.__all__ if name != "view"}
    named |= {"torch": torch, "model": model, "text": text, "trace": trace, "measure": measure}
    named |= {"wide": wide, "direction": direction, "eye": eye, "same": same, "sae": sae}
    answered = {}
    for call in calls:
        try:
            eval(call, named)
            answered[call] = ("nothing", "")
        except Exception as error:
            answered[call] = (type(error).__name__, str(error))
    return answered


# Without the hook that checks types here.
OURS = """
import json, sys, ffnviz
from tests.test_library import answers
model = ffnviz.load("relu")
print(json.dumps(answers(model, "The cat sat on the [MASK].", json.loads(sys.argv[1]))))
"""
WRONG = {
    "model.trace('')": ("ValueError", "The text is empty"),
    "model.run(torch.tensor([0.5]))": ("TypeError", "ids must be a tensor of whole numbers"),
    "trace.logits_at(99)": ("IndexError", "There is no token 99: tokens are numbered from 0 to "),
    "load('')": ("ValueError", "The name is empty: give relu, gelu, a folder"),
    "load('relu', dtype='bfloat16')": ("ValueError", "is one of ours: it has float32"),
    "load('relu', revision='main')": ("ValueError", "Leave out revision."),
    "load('relu', dtype=torch.float16)": ("ValueError", "must be float32 or bfloat16"),
    "load('relu', device='nowhere')": ("RuntimeError", "'nowhere' cannot be used here"),
    "load('relu', device='cuda:77')": ("RuntimeError", "'cuda:77' cannot be used here"),
}  # fmt: skip
# Of our networks and of others', alike.
OF_ANY = {
    "model.trace(None)": ("TypeError", "A text is a str, and this is of type NoneType."),
    "model.trace(['a', 'b'])": ("TypeError", "of type list. For several texts, use `traces`"),
    "model.run([99999])": ("TypeError", "ids must be a tensor of whole numbers"),
    "model.run(torch.tensor([1, 99999]))": ("ValueError", "no entry 99999 in the vocabulary"),
    "model.run(torch.tensor([-1]))": ("ValueError", "no entry -1 in the vocabulary"),
    "model.run(torch.tensor([True, False]))": ("TypeError", "ids must be a tensor of whole"),
    "model.run(torch.tensor([1, 2], dtype=torch.uint16))": ("nothing", ""),
    "list(model.walk([1, 2]))": ("TypeError", "ids must be a tensor of whole numbers"),
    "list(model.walk(torch.tensor([99999])))": ("ValueError", "There is no entry 99999"),
    "model.show_hidden(torch.tensor([99999]), [0], print)": ("ValueError", "no entry 99999"),
    "model.show_hidden(trace.ids, [99], print)": ("ValueError", "There is no block 99"),
    "model.show_hidden(trace.ids, [-1], len)": ("nothing", ""),
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
    "Trace.cat(trace)": ("TypeError", "Give traces in a list, even a single one: [trace]."),
    "Trace.cat([1])": ("TypeError", "There is a int among them: give traces of texts."),
    "ablate(trace, text, measure, 0)": ("TypeError", "network = Trace("),
    "patch(text, text, text, 0)": ("TypeError", "give a network, as ffnviz.load"),
    "contrast(trace, [text], [text], 0)": ("TypeError", "give a network, as ffnviz.load"),
    "ablate(model, text, None, 0)": ("TypeError", "measure = None: give a function of"),
    "ablate(model, text, type(measure)(99999), 0)": ("ValueError", "There is no entry 99999"),
    "ablate(model, text, measure, 0, how='resample', reference=[text], draws=2.5)": (
        "ValueError", "draws = 2.5: give"),
    "ablate(model, text, measure, 0, how='resample', reference=[text], seed='a')": (
        "ValueError", "seed = 'a': give"),
    "steer(model, text, None, 0)": ("TypeError", "direction = None: give a tensor"),
    "steer(model, text, direction)": ("TypeError", "a direction that is a tensor"),
    "steer(model, text, direction, 0, 'a')": ("ValueError", "strength = 'a': give one"),
    "logit_attribution(model, measure)": ("TypeError", "give the trace of one text"),
    "logit_attribution(Trace.cat([trace]), measure)": ("TypeError", "trace = JoinedTrace(1"),
    "logit_attribution(model.run(trace.ids), measure)": ("TypeError", "trace = StreamTr"),
    "logit_attribution(trace, len)": ("TypeError", "only a logit, or a difference of two"),
    "neuron_paths(model, 0, 0, 1)": ("TypeError", "give the trace of one text"),
    "gradient_attribution(model, text, lambda l: 1.0)": ("TypeError", "for each row of logits"),
    "gradient_attribution(model, text, lambda l: l.detach()[..., 0])": (
        "ValueError", "This measure has no gradient"),
    "logit_difference(model, None)": ("TypeError", "word = None: give a word's text"),
    "logit_difference(model, True)": ("TypeError", "word = True: give a word's text"),
    "logit_difference(model, -1)": ("ValueError", "There is no entry -1"),
    "Sae('n', 1, 'there', 'standard', **same)": ("SaeError", "at = 'there' must be one of hidden"),
    "Sae('n', 1, 'hidden', 'other', **same)": ("SaeError", "architecture = 'other' must be one of"),
    "Sae('n', 1, 'hidden', 'jumprelu', **same)": ("SaeError", "without its threshold"),
    "Sae('n', 1, 'hidden', 'standard', **same | {'w_dec': eye[1:]})": ("SaeError", "n: w_dec is ("),
    "sae_features(trace, 'n')": ("TypeError", "sae = 'n': give a dictionary"),
    "load(None)": ("TypeError", "name = None: give relu, gelu, a folder, or a name"),
    "write_descriptions(['a'], 'said')": ("TypeError", "There is 'a' among them: give"),
    # Numbers that are none, or that the network's precision has not.
    "Edit(0, trace.ids.to('meta'), scale=0.0)": ("ValueError", "neurons is on the device"),
    "Edit(0, add=direction.to('meta'), at='output')": ("ValueError", "add is on the device"),
    "Edit(0, scale=direction.sum().to('meta'))": ("ValueError", "give one finite number"),
    "Edit(0, add=[0.0, 1.0], at='output')": ("ValueError", "give one number, or torch.tensor([…])"),
    "model.trace(text, Edit(0, [1], scale=1e39))": ("ValueError", "precision (float32) ends at"),
    "model.trace(text, Edit(0, [1], value=-1e300))": ("ValueError", "value has the value"),
    "model.trace(text, Edit(0, add=direction.double() + 1e300, at='output'))": (
        "ValueError", "add has the value 1e+300"),
    "model.run(trace.ids.to('meta'))": ("ValueError", "ids is on the device meta"),
    "model.run(trace.ids[None][:0])": ("ValueError", "there is no text in it."),
    "model.logits(direction.to('meta'))": ("ValueError", "rows is on the device meta"),
    "steer(model, text, direction.to('meta'), 0)": ("ValueError", "direction is on the dev"),
    # One thing where another is wanted.
    "model.trace(text, 'edit')": ("TypeError", "edits = 'edit': give ffnviz.Edit"),
    "model.trace(text, hold=None)": ("nothing", ""),
    "model.trace(text, hold=True)": ("ValueError", "hold = True: give 'ffn', 'attention', 'all'"),
    "Trace.load('.')": ("TraceFileError", "'.' is a folder, and a trace is a file."),
    "Trace.load('')": ("TypeError", "path = '': give the name of a file."),
    "trace.save(None)": ("TypeError", "path = None: give the name of a file."),
    "read_index(None)": ("TypeError", "path = None: give the name of a file."),
    "read_index('not-there')": ("IndexFileError", "neurons: there is no such file."),
    "read_sae(5)": ("TypeError", "path = 5: give the name of a file."),
    "read_descriptions(None)": ("TypeError", "path = None: give the name of a file."),
    "Description(1, 5, 'x')": ("DescriptionsError", "layer = 1: give a text"),
    "Description('1', -1, 'x')": ("DescriptionsError", "index = -1: give a whole number"),
    "Description('1', 5, '')": ("DescriptionsError", "text = '': say what"),
    "neuron_paths(trace, 0, 1.0, 1)": ("ValueError", "neuron = 1.0: give one whole number"),
    "neuron_paths(trace, 1, 0, 0)": ("ValueError", "Block 0 (from 0) does not come after"),
    "steer(model, text, direction.numpy(), 0)": ("nothing", ""),
    "steer(model, text, [0.0] * 999, 0)": ("TypeError", "0.0, ...]: give a tensor, (width"),
    "steer(model, text, direction, 0, at='')": ("ValueError", "at = '' must be one of"),
    "generate(model, text, 1, sample='no')": ("ValueError", "sample = 'no': give True or F"),
    "LogitDifference('cat')": ("TypeError", "word = 'cat': give a vocabulary entry"),
    "sae_examples(model, sae, [text], progress=None)": ("nothing", ""),
    "Sae('n', -1, 'hidden', 'standard', **same)": ("SaeError", "n: block = -1: give one whole num"),
    "Sae('n', 1, 'hidden', 'standard', **same | {'w_enc': [1]})": ("SaeError", "w_enc must be a"),
    # Rows of another width, another precision or another number.
    "model.logits(direction.double())": ("nothing", ""),
    "model.logits(direction.half())": ("nothing", ""),
    "model.stream_with(trace, 0, direction[None])": ("ValueError", "a row per token."),
    "model.ffn(0).write(torch.zeros(3))": ("ValueError", "hidden has the shape (3,): its last"),
    "model.ffn(0).write(wide.numpy())": ("TypeError", "hidden must be a tensor of floating"),
    "model.ffn(0).neuron(torch.zeros(3), 0)": ("ValueError", "x has the shape (3,): its last"),
    "model.ffn(0).neuron(direction.double(), 0)": ("nothing", ""),
    "model.ffn(0).reads(torch.zeros(3))": ("ValueError", "middle has the shape (3,): its last"),
    "model.ffn(0).norm(torch.zeros(3))": ("ValueError", "x has the shape (3,): its last size"),
    "model.heads(0).write(torch.zeros(3))": ("ValueError", "z has the shape (3,): its last size"),
    "sae.encode(torch.zeros(3))": ("ValueError", "x has the shape (3,): its last size must be"),
    "sae.encode(wide.numpy())": ("TypeError", "x must be a tensor of floating-point numbers"),
    "sae.decode(torch.zeros(2, len(wide)), wide)": ("ValueError", "give as many rows of each."),
    "gradient_attribution(model, text, measure).towards(torch.zeros(3))": (
        "ValueError", "has the shape (3,)"),
    "gradient_attribution(model, text, measure).towards(wide)": ("ValueError", "has the shape"),
    # Of a tokenizer.
    "model.tokenizer.encode(5)": ("TypeError", "A text is a str, and this is of type int."),
    "model.tokenizer.encode(text, -1)": ("ValueError", "max_tokens = -1: give a whole number"),
    "model.tokenizer.encode_many(text)": ("TypeError", "give texts in a list, even a single one"),
    "model.tokenizer.decode(trace.ids)": ("nothing", ""),
    "model.tokenizer.decode([10**6])": ("ValueError", "There is no id 1000000: ids are numbered"),
    "model.tokenizer.word(10**6)": ("ValueError", "There is no entry 1000000: entries are"),
    "model.tokenizer.label(-1)": ("ValueError", "There is no entry -1: entries are"),
}  # fmt: skip


def test_a_wrong_call_is_answered_in_a_sentence() -> None:
    calls = {**OF_ANY, **WRONG}
    command = [sys.executable, "-W", "ignore", "-c", OURS, json.dumps([*calls])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    check(json.loads(done.stdout), calls)


@pytest.mark.parametrize("family", ["GPT-2", "Llama"])
def test_a_network_of_others_answers_alike(family: str) -> None:
    answered = answers(network_of(family), "the cat sat", [*OF_ANY])
    told = {asked: of for asked, of in answered.items() if of[0] != "TypeCheckError"}
    assert len(OF_ANY) - len(told) < 10, "what the hook takes care of, of parts that all share"
    check(told, {asked: OF_ANY[asked] for asked in told})


def check(answered: Mapping[str, Sequence[str]], expected: Mapping[str, tuple[str, str]]) -> None:
    for asked, (kind, said) in answered.items():
        assert (asked, kind) == (asked, expected[asked][0]), said
        assert expected[asked][1] in said, asked
    assert answered.keys() == expected.keys()


def network_of(family: str) -> ffnviz.ExternalNetwork:
    pytest.importorskip("transformers")
    from tests.analysis.causal.networks import network_of_kind

    return network_of_kind(family)


@pytest.mark.parametrize("family", ["GPT-2", "BERT"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_network_moved_to_another_dtype_is_measured_there(
    family: str, dtype: torch.dtype
) -> None:
    network = deepcopy(network_of(family))
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
    network = network_of("BERT")
    for how in ("mean", "resample"):
        with pytest.raises(ValueError, match="no tokens but the tokenizer's own"):
            ffnviz.ablate(
                network, "the cat", lambda logits: logits[..., 5], 1,
                how=how, reference=[" "], token=1,
            )  # fmt: skip


GOOD, BAD = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]


def test_a_contrast_knows_where_it_is_added_and_of_which_network_it_is() -> None:
    relu, gelu, text = ffnviz.load("relu"), ffnviz.load("gelu"), "It was [MASK]."
    found = ffnviz.contrast(relu, GOOD, BAD, -2, at="middle")
    assert found.block == 0
    steered = ffnviz.steer(relu, text, found, strength=2.0).logits
    asked = ffnviz.steer(relu, text, found.direction, 0, 2.0, at="middle")
    assert torch.equal(steered, asked.logits)
    assert not torch.equal(steered, relu.trace(text).logits)
    again = ffnviz.steer(replace(relu), text, found, strength=2.0)  # the same weights
    assert torch.equal(again.logits, steered)
    with pytest.raises(ValueError, match="found in another network, ReLU"):
        ffnviz.steer(gelu, text, found)
    copied = pickle.loads(pickle.dumps(found))
    assert (copied, copied.network) == (found, None)


def test_traces_of_different_networks_are_not_joined_though_they_were_saved(tmp_path: Path) -> None:
    for name in ("relu", "gelu"):
        ffnviz.load(name).trace(GOOD[0]).save(tmp_path / name)
        ffnviz.Trace.load(tmp_path / name).save(tmp_path / f"{name} again")
    saved = [ffnviz.Trace.load(tmp_path / name) for name in ("relu", "relu again", "gelu again")]
    assert len(ffnviz.Trace.cat(saved[:2]).tokens) == 2 * len(saved[0].tokens)
    with pytest.raises(ValueError, match="of different networks"):
        ffnviz.Trace.cat(saved[1:])


def test_a_measure_of_another_vocabulary_is_noticed() -> None:
    gpt, relu = network_of("GPT-2"), ffnviz.load("relu")
    of_gpt, text = ffnviz.logit_difference(gpt, 5, 9), "How [MASK] they know?"
    asked: list[Callable[[], object]] = [
        lambda: ffnviz.ablate(relu, text, of_gpt, 0),
        lambda: ffnviz.logit_attribution(relu.trace(text), of_gpt),
        lambda: ffnviz.gradient_attribution(relu, text, of_gpt),
        lambda: ffnviz.patch_map(relu, text, text, of_gpt),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match="made for another network's vocabulary"):
            ask()
    of_gelu = ffnviz.logit_difference(ffnviz.load("gelu"), "do", "does")
    assert ffnviz.ablate(relu, text, of_gelu, 0).plain > 0  # the twins read by one vocabulary


def test_a_part_of_a_trace_gives_what_the_whole_has_there() -> None:
    model = ffnviz.load("relu")
    trace, do = model.trace("How [MASK] they know?"), ffnviz.logit_difference(model, "do")
    edited = model.trace(trace.text, ffnviz.Edit(0, [3], value=2.0))
    for whole in (trace, edited):
        part = token_slice(whole, range(1, 4))
        for measured in (ffnviz.logit_attribution, ffnviz.head_attribution):
            assert measured(part, do, token=1) == measured(whole, do, token=2)
        paths = ffnviz.neuron_paths(part, 0, 3, 1, token=1)
        assert paths == ffnviz.neuron_paths(whole, 0, 3, 1, token=2)
        for at in ("attention", "heads", "hidden"):
            width = model.sizes.d_ff if at == "hidden" else model.sizes.d_model
            eye, zero = torch.eye(width), torch.zeros(width)
            sae = ffnviz.Sae("n", 0, at, "standard", w_enc=eye, w_dec=eye, b_dec=zero, b_enc=zero)
            here, there = (ffnviz.sae_features(each, sae).values for each in (part, whole))
            assert torch.equal(here, there[1:4])


def test_a_network_is_opened_by_names_and_numbers_that_are_such() -> None:
    pytest.importorskip("transformers")
    from tests.models.external.families import FAMILIES, build
    from tests.models.external.tokenizers import byte_level

    model, opened = build(FAMILIES["GPT-2"]), inspect.unwrap(ffnviz.from_module)
    with pytest.raises(TypeError, match="label = 5: give a text"):
        opened(model, byte_level(), 5)
    for longest in (0, "5", 2.5):
        with pytest.raises(ValueError, match=r"longest = .*: give a whole number, 1 or more"):
            opened(model, byte_level(), longest=longest)
    with pytest.raises(ffnviz.CannotOpenError, match="on the device meta, where they have no val"):
        ffnviz.from_module(build(FAMILIES["GPT-2"]).to("meta"), byte_level())
