"""The names a notebook may rely on. Whoever changes them changes this test, on purpose."""

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import torch

import ffnviz
from ffnviz.analysis.causal.measure import logit_difference

# What a network of ours, a proof and a trace have inside, which a notebook need not name.
INSIDE = {
    "Encoder", "EncoderTrace", "StreamRecord", "Block", "BlockRecord", "LazyValue", "ProvedBlock",
    "FfnRoles", "StreamRoles", "AttentionRoles", "HeadRoles", "Call", "TokenizerLike", "Views",
    "WeightsWatch",
}  # fmt: skip
# What somebody makes; all else is made by the library.
MADE = ("Description", "Edit", "EncoderConfig", "ExternalNetwork", "Model", "Noise", "Sae")
PUBLIC = """
    Ablation Activation AttentionPatterns AttentionRecord AttentionView BlockIndex BlockTrace
    CannotOpenError Card ConfigError Contrast Description Descriptions DescriptionsError Edit
    EncoderConfig Encoding Example ExternalNetwork ExternalTokenizer FeatureExamples Features
    FeedForwardRecord FfnView GatedFeedForwardRecord GeneratedToken Generation
    GradientAttribution HeadAttribution HeadMap IndexFileError JoinedTrace LogitAttribution
    LogitDifference Model ModelFolderError Network NeuronIndex NeuronPaths Noise Norm
    NotForThisNetwork PatchMap Proof Provenance RankedWords Replaced Sae SaeError Score Shown
    Sizes StreamTrace Token Tokenizer TooLargeError Trace TraceFileError UnreadableTextError
    WeightsChangedError WordHead WordVectors ablate contrast from_module generate
    gradient_attribution head_attribution head_map load logit_attribution logit_difference
    loss_gradient neuron_paths patch patch_map read_descriptions read_index read_sae sae_error
    sae_examples sae_features sae_words show steer view write_descriptions
"""


def test_the_public_names_are_these_and_each_says_what_it_is() -> None:
    assert sorted(ffnviz.__all__) == PUBLIC.split()
    assert dir(ffnviz) == sorted([*ffnviz.__all__, "__version__"]), "as a completion shows them"
    for name in ffnviz.__all__:
        assert getattr(ffnviz, name).__doc__, name
    for error in (ffnviz.ConfigError, ffnviz.ModelFolderError, ffnviz.CannotOpenError):
        assert issubclass(error, ValueError), "so that a notebook can catch it as such"


def test_what_the_readme_shows_can_be_reached_from_a_trace(model_folder: Path) -> None:
    trace = ffnviz.load(model_folder).trace("The cat sat on the [MASK].")
    n = len(trace.tokens)
    block = trace.blocks[0]
    assert trace.text.startswith("The cat")
    assert trace.embedding.shape == trace.final.shape == block.middle.shape == (n, 16)
    assert trace.logits.shape == (n, 300)
    assert block.attention.weights.shape == (2, n, n)
    for name in ("input", "output"):
        assert getattr(block.ffn, name).shape == getattr(block, name).shape == (n, 16)
    for name in ("pre_activation", "hidden"):
        assert getattr(block.ffn, name).shape == (n, 32)


def functions_of(name: str) -> Iterator[Callable[..., Any]]:
    """A public function; of a class its methods and properties, and what makes it."""
    public = getattr(ffnviz, name)
    if not inspect.isclass(public):
        yield public if inspect.isfunction(public) else type(public).__call__
        return
    yield public
    for each in public.__mro__:
        if each.__module__.startswith("ffnviz"):
            for attribute, value in vars(each).items():
                value = getattr(value, "__func__", value)
                value = value.fget if isinstance(value, property) else value
                value = value.func if isinstance(value, cached_property) else value
                if not attribute.startswith("_") and inspect.isfunction(value):
                    yield value


def classes_in(hint: object) -> Iterator[type]:
    for each in typing.get_args(hint):
        if not isinstance(each, str):
            yield from classes_in(each)
    kind = typing.get_origin(hint) or hint
    if inspect.isclass(kind) and kind.__module__.startswith("ffnviz."):
        yield kind


ARRAYS = ("BlockIndex", "NeuronIndex")  # a file of counts, as NumPy wrote it


@pytest.mark.parametrize("name", [each for each in ffnviz.__all__ if each != "view"])
def test_every_class_that_is_handed_out_is_public_and_no_result_is_an_array(name: str) -> None:
    public = {getattr(ffnviz, each) for each in ffnviz.__all__ if each[0].isupper()}
    arrays = []
    for function in functions_of(name):
        hints = typing.get_type_hints(function)
        handed = hints.values() if inspect.isclass(function) else [hints.get("return")]
        for kind in (kind for hint in handed for kind in classes_in(hint)):
            assert kind in public or kind.__name__ in INSIDE, f"{kind} of {function}"
        arrays += [hint for hint in handed if "ndarray" in str(hint)]
    if name[0].isupper() and name != "Activation":  # φ itself, which is given for both
        assert bool(arrays) == (name in ARRAYS), arrays


def test_every_error_that_the_library_raises_is_public() -> None:
    """Of those of the modules that have a public name in them, and of what those import."""
    public = {getattr(ffnviz, each) for each in ffnviz.__all__ if each[0].isupper()}
    modules = {inspect.getmodule(getattr(ffnviz, each)) for each in ffnviz.__all__}
    found = {
        kind
        for module in modules
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and issubclass(kind, Exception)
        and kind.__module__.startswith("ffnviz.")
        and kind.__name__ not in ("NotProvedError", "PassEnded", "Refused")  # caught inside
    }
    assert len(found) > 8
    assert found <= public


def test_at_most_five_arguments_are_told_by_their_place() -> None:
    functions = [(name, each) for name in ffnviz.__all__ for each in functions_of(name)]
    for name, function in functions:
        if inspect.isclass(function) and name not in MADE:
            continue
        parameters = inspect.signature(function).parameters.values()
        by_place = [
            each.name
            for each in parameters
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
            and each.name != "self"
        ]
        assert len(by_place) <= 5, (function, by_place)


FORMER = "look_at"  # a former name of `hold`, which goes on for one version


def methods_of(kind: type) -> dict[str, Callable[..., Any]]:
    names = (name for name in dir(kind) if not name.startswith("_"))
    return {name: getattr(kind, name) for name in names if inspect.isfunction(getattr(kind, name))}


def arguments_of(function: Callable[..., Any]) -> list[tuple[str, object, object]]:
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters if each.name != FORMER]


def test_ours_and_others_take_the_same_arguments_by_the_same_names() -> None:
    ours, others = methods_of(ffnviz.Model), methods_of(ffnviz.ExternalNetwork)
    told = methods_of(ffnviz.Network)
    assert set(ours) == set(others) == {*told, "logits_with_gradients"}  # not every network has it
    assert len(ours) > 10
    for name in ours:
        mine, theirs = (inspect.signature(each[name]).parameters for each in (ours, others))
        assert str(mine) == str(theirs), name
        assert arguments_of(ours[name]) == arguments_of(told.get(name, ours[name])), name
    own = {name for name in dir(ffnviz.Network) if not name.startswith("_")} - {*told, "tokenizer"}
    for kind in (ffnviz.Model, ffnviz.ExternalNetwork):
        assert own <= {*dir(kind)}
        assert "tokenizer" in {each.name for each in fields(kind)}


def test_what_was_told_by_its_place_goes_on_with_a_warning(model_folder: Path) -> None:
    model = ffnviz.load(model_folder)
    trace, measure = model.trace("The cat sat"), logit_difference(model, 5)
    with pytest.warns(DeprecationWarning, match="takes these only by name .*: token=…, k=…"):
        former = ffnviz.logit_attribution(trace, measure, 1, 3)  # type: ignore[misc,unused-ignore]
    assert former == ffnviz.logit_attribution(trace, measure, token=1, k=3)
    with pytest.warns(DeprecationWarning, match="neuron_paths .*: token=…"):
        paths = ffnviz.neuron_paths(trace, 0, 3, 1, 2)
    assert paths == ffnviz.neuron_paths(trace, 0, 3, 1, token=2)
    with pytest.warns(DeprecationWarning, match="Edit .*: add=…"):
        edit = ffnviz.Edit(0, [1], None, None, None, 2.0)
    assert edit == ffnviz.Edit(0, [1], add=2.0)
    assert replace(edit, block=1) == ffnviz.Edit(1, [1], add=2.0)
    eye, zero = torch.eye(4), torch.zeros(4)
    with pytest.warns(DeprecationWarning, match="Sae .*: w_enc=…, w_dec=…, b_dec=…, b_enc=…"):
        sae = ffnviz.Sae("a", 0, "ffn", "standard", eye, eye, zero, zero)
    assert sae.d_sae == 4
    with pytest.raises(TypeError, match="positional"):
        ffnviz.logit_attribution(trace, measure, 1, 3, 4)  # type: ignore[call-arg]
    with (
        pytest.raises(TypeError, match="multiple values"),
        pytest.warns(DeprecationWarning, match="token=…"),
    ):
        ffnviz.logit_attribution(trace, measure, 1, token=1)  # type: ignore[misc]


def test_results_are_compared_entry_by_entry(model_folder: Path) -> None:
    model = ffnviz.load(model_folder)
    text, measure = "The cat sat", logit_difference(model, 5)
    made: tuple[Callable[[int], object], ...] = (
        lambda block: ffnviz.ablate(model, text, measure, block, token=0),
        lambda block: ffnviz.neuron_paths(model.trace(text), 0, block, 1, token=0),
        lambda block: ffnviz.head_map(model, text, text, measure, token=block),
        lambda block: ffnviz.patch_map(model, text, text, measure, tokens=[block], token=0),
        lambda block: ffnviz.contrast(model, ["a b", "b c"], ["c d", "d"], block, token=0),
        lambda block: ffnviz.gradient_attribution(model, text, measure, token=block),
    )
    for make in made:
        first, again, other = make(0), make(0), make(1)
        assert first == again
        assert hash(first) == hash(again)
        assert first != other
        assert first != "another kind"
    empty = torch.tensor([torch.nan]).double()
    assert ffnviz.Ablation(1.0, empty, 0.0) == ffnviz.Ablation(1.0, empty.clone(), 0.0)
