"""Neurons and streams switched off, scaled, fixed and moved, against recomputing by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."
N_TOKENS = 9
NETWORKS = [("post", "gelu"), ("pre", "swiglu")]


@pytest.fixture(params=NETWORKS, ids=str, scope="module")
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, *request.param)


@pytest.fixture(scope="module")
def plain(tokenizer: Tokenizer) -> Model:
    """One of them, where it does not matter which."""
    return small_model(tokenizer)


def hidden_after(model: Model, *edits: Edit) -> torch.Tensor:
    """The first block's hidden values of the edited text."""
    return model.trace(TEXT, edits=list(edits)).blocks[0].ffn.hidden


@pytest.mark.parametrize("at", ["hidden", "ffn", "attention", "input", "output"])
def test_an_edit_is_what_a_change_by_hand_does(model: Model, at: str) -> None:
    """A change is made of what the modules return, and the rest of the network runs on."""
    drawn = torch.randn(2, 3, generator=torch.Generator().manual_seed(5))
    direction = torch.arange(32.0 if at == "hidden" else 16.0)
    edits = [
        Edit(1, [1, 0, 4], value=drawn, tokens=[3, 0], at=at),
        Edit(1, add=direction, at=at),
        Edit(1, scale=0.5, tokens=[2], at=at),
        Edit(2, range(5, 12), scale=-2.5, at=at),
    ]

    def change(x: torch.Tensor, number: int) -> torch.Tensor:
        x = x.clone()
        if number == 1:
            x[torch.tensor([3, 0])[:, None], torch.tensor([1, 0, 4])] = drawn
            x = x + direction
            x[2] *= 0.5
        if number == 2:
            x[:, 5:12] *= -2.5
        return x

    trace, plain = model.trace(TEXT, edits), model.trace(TEXT)
    encoder = model.encoder
    x = encoder.embed(plain.ids)
    for number, block in enumerate(encoder.blocks):
        x = change(x, number) if at == "input" else x
        written = block.attend(x).output
        written = change(written, number) if at == "attention" else written
        middle = block.add_attention(x, written)
        ffn = block.feed(middle)
        written = block.ffn.compress(change(ffn.hidden, number)) if at == "hidden" else ffn.output
        written = change(written, number) if at == "ffn" else written
        x = block.add_ffn(middle, written)
        x = change(x, number) if at == "output" else x
    torch.testing.assert_close(trace.blocks[-1].output, x)
    found, before = (
        {"hidden": own.ffn.hidden, "ffn": own.ffn.output, "attention": own.attention.output,
         "input": own.input, "output": own.output}[at]
        for own in (trace.blocks[1], plain.blocks[1])
    )  # fmt: skip
    torch.testing.assert_close(found, change(before, 1))
    assert torch.equal(trace.blocks[0].output, plain.blocks[0].output)


def test_edits_are_made_one_after_the_other_and_all_else_stays_to_the_bit(model: Model) -> None:
    first, then = Edit(0, [4], value=3.0), Edit(0, [4], scale=2.0)
    assert (hidden_after(model, first, then)[:, 4] == 6.0).all()
    assert (hidden_after(model, then, first)[:, 4] == 3.0).all()
    trace, changed = model.trace(TEXT), model.trace(TEXT, edits=[Edit(0, [4], 0.0, tokens=[1])])
    same = trace.blocks[0].ffn.hidden == changed.blocks[0].ffn.hidden
    same[1, 4] = True
    assert same.all()
    assert changed.blocks[0].ffn.hidden[1, 4] == 0
    before, after = trace.blocks[0].ffn.pre_activation, changed.blocks[0].ffn.pre_activation
    assert torch.equal(before, after)
    nowhere = Edit(0, scale=0.0, tokens=[False] * N_TOKENS)
    for nothing in ([], [Edit(0, [], scale=0.0)], [nowhere]):
        assert torch.equal(model.trace(TEXT, edits=nothing).logits, trace.logits)
    # Blocks and tokens count from the end, too, as in Python.
    last = model.trace(TEXT, Edit(-1, [0], value=3.0, tokens=[-1]))
    same_one = model.trace(TEXT, Edit(2, [0], value=3.0, tokens=[N_TOKENS - 1]))
    assert torch.equal(last.logits, same_one.logits)
    assert not torch.equal(last.logits, trace.logits)


MASK = [neuron % 3 == 0 for neuron in range(32)]
ROWS = torch.tensor(MASK)


@pytest.mark.parametrize(
    "mask",
    [MASK, tuple(MASK), ROWS, np.array(MASK), list(ROWS), list(np.array(MASK))],
    ids=["list", "tuple", "tensor", "array", "list of tensors", "list of NumPy's"],
)
def test_a_mask_is_the_neurons_and_the_tokens_where_it_is_true(plain: Model, mask: Any) -> None:
    numbers, edit = [n for n in range(32) if MASK[n]], Edit(0, mask, scale=0.0)
    assert edit.neuron_places == numbers
    by_numbers = plain.trace(TEXT, [Edit(0, numbers, scale=0.0)])
    by_mask = plain.trace(TEXT, [edit])
    assert (by_mask.blocks[0].ffn.hidden[:, ::3] == 0).all()
    assert torch.equal(by_mask.logits, by_numbers.logits)
    tokens = mask[:N_TOKENS]
    hidden = hidden_after(plain, Edit(0, [4], value=3.0, tokens=tokens))
    assert (hidden[:, 4] == 3.0).tolist() == MASK[:N_TOKENS]


@pytest.mark.parametrize("kind", [set, tuple, iter, np.array, torch.tensor, np.uint8])
def test_numbers_of_any_kind_are_taken_and_copied(plain: Model, kind: Any) -> None:
    numbers = np.array([3, 17], np.uint8) if kind is np.uint8 else kind([3, 17])
    edit = Edit(np.int64(0), numbers, scale=np.float32(0.0))  # type: ignore[arg-type]
    if isinstance(numbers, set):
        numbers.clear()
    elif isinstance(numbers, torch.Tensor | np.ndarray):
        numbers[:] = 0
    assert (hidden_after(plain, edit)[:, [3, 17]] == 0).all()
    assert edit == Edit(0, [torch.tensor(3), np.int64(17)], scale=0.0)


SAY_WHICH = "a scale, a value, or something to add"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scale": None}, SAY_WHICH),
        ({"value": 1.0}, SAY_WHICH),
        ({"block": 0.5}, "block = 0.5: give one whole number"),
        ({"block": True}, "block = True"),
        ({"neurons": torch.tensor([1.0])}, "neurons has 1.0 in it"),
        ({"neurons": [True, 4]}, "neurons mixes True and False with numbers"),
        ({"neurons": "17"}, "neurons = '17'"),
        ({"neurons": 17}, "neurons = 17: give whole numbers in a list"),
        ({"neurons": torch.ones(2, 32) > 0}, r"the shape \(2, 32\): .* in one row"),
        ({"tokens": [0.0]}, "tokens has 0.0 in it"),
        ({"scale": float("nan")}, "scale = nan: give one finite number"),
        ({"scale": "2"}, "scale = '2'"),
        ({"scale": None, "value": float("-inf")}, "value = -inf"),
        (
            {"scale": None, "value": torch.tensor([1.0, float("nan")])},
            "value must hold finite floating-point numbers",
        ),
        ({"at": "stream"}, "at = 'stream' must be one of hidden, ffn"),
    ],
    ids=str,
)
def test_what_is_no_number_is_refused_at_once(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Edit(**{"block": 0, "neurons": [1], "scale": 0.0, **wrong})


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(3, [0], 0.0), "There is no block 3: blocks are numbered from 0 to 2"),
        (Edit(-4, [0], 0.0), "no block -4"),
        (Edit(0, [-1], 0.0), "There is no neuron -1"),
        (Edit(0, [1, 32], 0.0), "There is no neuron 32: neurons are numbered from 0 to 31"),
        (Edit(0, [16], 0.0, at="ffn"), "no component 16: components are numbered from 0 to 15"),
        (Edit(0, [0], 0.0, tokens=[N_TOKENS]), f"There is no token {N_TOKENS}"),
        (Edit(0, MASK[1:], 0.0), "mask of neurons has 31 entries, but there are 32"),
        (Edit(0, [1], 0.0, tokens=MASK), "mask of tokens has 32 entries"),
        (
            Edit(0, [1, 2, 3], value=torch.ones(4), tokens=[0, 1]),
            r"shape \(4,\) cannot be spread.*\(2, 3\)",
        ),
    ],
)
def test_what_is_not_there_cannot_be_changed(model: Model, edit: Edit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.trace(TEXT, edits=[edit])


def test_a_tensor_is_spread_and_compared_by_its_numbers(plain: Model) -> None:
    fits = [torch.ones(3), torch.ones(1, 3), torch.ones(2, 1), torch.ones(2, 3)]
    made = [plain.trace(TEXT, [Edit(0, [1, 2, 3], value=v, tokens=[0, 1])]).final for v in fits]
    assert all(torch.equal(made[0], each) for each in made)
    given = torch.ones(3)
    edit = Edit(0, [1], value=given)
    given.zero_()
    assert edit == Edit(0, [1], value=torch.ones(3))
    assert hash(edit) == hash(Edit(0, [1], value=torch.ones(3)))
    assert edit != Edit(0, [1], value=torch.zeros(3))
    assert edit != Edit(0, [1], value=torch.ones(1, 3))
