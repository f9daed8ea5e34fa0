"""Neurons switched off, scaled and fixed, against recomputing by hand in float64."""

from typing import Any

import numpy as np
import pytest
import torch

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."
EDITS = {
    "off": Edit(block=1, neurons=[3, 17], scale=0.0),
    "scaled": Edit(block=0, neurons=range(5, 12), scale=-2.5, tokens=[2]),
    "fixed": Edit(block=2, neurons=[0, 31], value=1.25),
    "fixed here": Edit(block=0, neurons=[7, 8, 9], value=-0.5, tokens=[0, 4]),
}


@pytest.fixture(params=[("pre", "relu"), ("post", "gelu"), ("pre", "swiglu")], ids=str)
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, *request.param)


def by_hand(model: Model, edits: list[Edit]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Every block's hidden values and the logits, float64, the edits made number by number."""
    plain = model.trace(TEXT)
    encoder = small_model(
        model.tokenizer, model.encoder.config.norm, model.encoder.config.activation
    ).encoder.double()
    pre = model.encoder.config.norm == "pre"
    x = encoder.embed(plain.ids)
    all_hidden = []
    for number, block in enumerate(encoder.blocks):
        record = block(x)
        middle = record.middle
        hidden = block.ffn(block.ffn_norm(middle) if pre else middle).hidden.clone()
        for edit in edits:
            for neuron in edit.neuron_places if edit.block == number else ():
                for token in range(len(hidden)) if edit.tokens is None else edit.tokens:
                    old = float(hidden[token, neuron])
                    new = edit.value if edit.scale is None else old * edit.scale
                    assert new is not None
                    hidden[token, neuron] = new
        all_hidden.append(hidden)
        x = middle + hidden @ block.ffn.compress.weight.T + block.ffn.compress.bias
        x = x if pre else block.ffn_norm(x)
    return all_hidden, encoder.final_norm(x) @ encoder.token_embedding.weight.T


@pytest.mark.parametrize("names", [[name] for name in EDITS] + [list(EDITS)], ids="+".join)
def test_an_edited_trace_is_what_recomputing_by_hand_gives(model: Model, names: list[str]) -> None:
    edits = [EDITS[name] for name in names]
    trace = model.trace(TEXT, edits=edits)
    hidden, logits = by_hand(model, edits)
    for block, expected in zip(trace.blocks, hidden, strict=True):
        torch.testing.assert_close(block.ffn.hidden.double(), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(trace.logits.double(), logits, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(trace.logits, model.trace(TEXT).logits, atol=1e-4)


def test_edits_are_made_one_after_the_other(model: Model) -> None:
    first, then = Edit(0, [4], value=3.0), Edit(0, [4], scale=2.0)
    hidden = model.trace(TEXT, edits=[first, then]).blocks[0].ffn.hidden
    assert hidden[:, 4].tolist() == [6.0] * len(hidden)
    hidden = model.trace(TEXT, edits=[then, first]).blocks[0].ffn.hidden
    assert hidden[:, 4].tolist() == [3.0] * len(hidden)


def test_all_else_of_the_hidden_layer_stays_bit_for_bit(model: Model) -> None:
    plain, changed = model.trace(TEXT), model.trace(TEXT, edits=[Edit(0, [4], 0.0, tokens=[1])])
    same = plain.blocks[0].ffn.hidden == changed.blocks[0].ffn.hidden
    same[1, 4] = True
    assert same.all()
    assert changed.blocks[0].ffn.hidden[1, 4] == 0
    torch.testing.assert_close(
        plain.blocks[0].ffn.pre_activation, changed.blocks[0].ffn.pre_activation, rtol=0, atol=0
    )


def test_a_batch_is_edited_like_its_sentences(model: Model) -> None:
    ids = model.trace(TEXT).ids
    edits = [EDITS["off"], EDITS["fixed here"]]
    batch = model.encoder(torch.stack([ids, ids.flip(0)]), edits)
    for row, one in enumerate([ids, ids.flip(0)]):
        alone = model.encoder(one, edits)
        torch.testing.assert_close(batch.logits[row], alone.logits, rtol=1e-4, atol=1e-5)


def test_without_edits_nothing_is_copied(model: Model) -> None:
    trace = model.trace(TEXT)
    again = model.trace(TEXT, edits=[])
    assert torch.equal(trace.logits, again.logits)
    asleep = model.trace(TEXT, edits=[Edit(0, [], scale=0.0)])
    assert torch.equal(trace.logits, asleep.logits)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(3, [0], 0.0), "There is no block 3: blocks are numbered from 0 to 2"),
        (Edit(-4, [0], 0.0), "no block -4"),
        (Edit(0, [-1], 0.0), "There is no neuron -1"),
        (Edit(0, [1, 32], 0.0), "There is no neuron 32: neurons are numbered from 0 to 31"),
        (Edit(0, [0], 0.0, tokens=[99]), "There is no token 99"),
    ],
)
def test_what_is_not_there_cannot_be_changed(model: Model, edit: Edit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.trace(TEXT, edits=[edit])


def test_blocks_and_tokens_count_from_the_end_as_in_python(model: Model) -> None:
    last = model.trace(TEXT, Edit(-1, [0], value=3.0, tokens=[-1]))
    n = len(last.tokens)
    assert torch.equal(
        last.logits, model.trace(TEXT, Edit(2, [0], value=3.0, tokens=[n - 1])).logits
    )
    assert not torch.equal(last.logits, model.trace(TEXT).logits)


def test_an_edit_says_either_by_how_much_or_to_what() -> None:
    with pytest.raises(ValueError, match="a scale, a value, or something to add"):
        Edit(0, [0])
    with pytest.raises(ValueError, match="a scale, a value, or something to add"):
        Edit(0, [0], scale=0.0, value=1.0)


MASK = [neuron % 3 == 0 for neuron in range(32)]
ROWS = torch.tensor(MASK)


@pytest.mark.parametrize(
    "mask",
    [MASK, tuple(MASK), ROWS, np.array(MASK), list(ROWS), list(np.array(MASK))],
    ids=["list", "tuple", "tensor", "array", "list of tensors", "list of NumPy's"],
)
def test_a_mask_is_the_neurons_where_it_is_true(model: Model, mask: Any) -> None:
    by_numbers = model.trace(TEXT, [Edit(0, [n for n in range(32) if MASK[n]], scale=0.0)])
    by_mask = model.trace(TEXT, [Edit(0, mask, scale=0.0)])
    assert (by_mask.blocks[0].ffn.hidden[:, ::3] == 0).all()
    assert torch.equal(by_mask.logits, by_numbers.logits)


def test_a_mask_of_tokens_is_the_tokens_where_it_is_true(model: Model) -> None:
    n_tokens = len(model.trace(TEXT).tokens)
    mask = torch.arange(n_tokens) == 2
    hidden = model.trace(TEXT, [Edit(0, [4], value=3.0, tokens=mask)]).blocks[0].ffn.hidden
    assert (hidden[:, 4] == 3.0).tolist() == mask.tolist()
    nowhere = model.trace(TEXT, [Edit(0, [4], value=3.0, tokens=mask & ~mask)])
    assert torch.equal(nowhere.logits, model.trace(TEXT).logits)


@pytest.mark.parametrize("kind", [set, tuple, iter, np.array, torch.tensor, np.uint8])
def test_numbers_of_any_kind_are_taken_and_copied(model: Model, kind: Any) -> None:
    numbers = np.array([3, 17], np.uint8) if kind is np.uint8 else kind([3, 17])
    edit = Edit(np.int64(0), numbers, scale=np.float32(0.0))  # type: ignore[arg-type]
    if isinstance(numbers, set):
        numbers.clear()
    elif isinstance(numbers, torch.Tensor | np.ndarray):
        numbers[:] = 0
    hidden = model.trace(TEXT, [edit]).blocks[0].ffn.hidden
    assert (hidden[:, [3, 17]] == 0).all()
    assert edit == Edit(0, [torch.tensor(3), np.int64(17)], scale=0.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"block": 0.5}, "block = 0.5: give one whole number"),
        ({"block": True}, "block = True"),
        ({"neurons": [1.9]}, "neurons has 1.9 in it"),
        ({"neurons": torch.tensor([1.0])}, "neurons has 1.0 in it"),
        ({"neurons": [True, 4]}, "neurons mixes True and False with numbers"),
        ({"neurons": "17"}, "neurons = '17'"),
        ({"neurons": ["17"]}, "neurons has '17' in it"),
        ({"neurons": 17}, "neurons = 17: give whole numbers in a list"),
        ({"neurons": torch.ones(2, 32) > 0}, r"the shape \(2, 32\): .* in one row"),
        ({"tokens": [0.0]}, "tokens has 0.0 in it"),
        ({"scale": float("nan")}, "scale = nan: give one finite number"),
        ({"scale": float("inf")}, "scale = inf"),
        ({"scale": "2"}, "scale = '2'"),
        ({"scale": None, "value": float("-inf")}, "value = -inf"),
        ({"scale": None, "value": True}, "value = True"),
    ],
    ids=str,
)
def test_what_is_no_number_is_refused_at_once(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Edit(**{"block": 0, "neurons": [1], "scale": 0.0, **wrong})


def test_a_mask_of_another_length_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="mask of neurons has 31 entries, but there are 32"):
        model.trace(TEXT, [Edit(0, MASK[1:], scale=0.0)])
    with pytest.raises(ValueError, match="mask of tokens has 32 entries"):
        model.trace(TEXT, [Edit(0, [1], scale=0.0, tokens=MASK)])
    n_tokens = len(model.trace(TEXT).tokens)
    with pytest.raises(ValueError, match="no token"):
        model.trace(TEXT, [Edit(0, [1], scale=0.0, tokens=[n_tokens])])


PLACES_OF_OURS = {"ffn": "ffn", "attention": "attention", "input": "", "output": ""}


@pytest.mark.parametrize("at", PLACES_OF_OURS)
def test_an_edit_elsewhere_in_the_block_is_what_a_hook_by_hand_does(model: Model, at: str) -> None:
    """Hooks on the modules, whose records they replace, in float32."""
    drawn = torch.randn(2, 3, generator=torch.Generator().manual_seed(5))
    edits = [
        Edit(1, [1, 0, 4], value=drawn, tokens=[3, 0], at=at),
        Edit(1, add=torch.arange(16.0), at=at),
        Edit(1, scale=0.5, tokens=[2], at=at),
    ]

    def change(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[torch.tensor([3, 0])[:, None], torch.tensor([1, 0, 4])] = drawn
        x = x + torch.arange(16.0)
        x[2] *= 0.5
        return x

    trace = model.trace(TEXT, edits)
    plain = model.trace(TEXT)
    encoder = small_model(
        model.tokenizer, model.encoder.config.norm, model.encoder.config.activation
    ).encoder
    x = encoder.embed(plain.ids)
    for number, block in enumerate(encoder.blocks):
        own = change if number == 1 else lambda x: x
        x = own(x) if at == "input" else x
        written = block.attend(x).output
        middle = block.add_attention(x, own(written) if at == "attention" else written)
        written = block.feed(middle).output
        x = block.add_ffn(middle, own(written) if at == "ffn" else written)
        x = own(x) if at == "output" else x
    torch.testing.assert_close(trace.blocks[-1].output, x)
    found, before = (
        {"ffn": own.ffn.output, "attention": own.attention.output,
         "input": own.input, "output": own.output}[at]
        for own in (trace.blocks[1], plain.blocks[1])
    )  # fmt: skip
    torch.testing.assert_close(found, change(before))


def test_a_tensor_is_spread_or_refused(model: Model) -> None:
    fits = [torch.ones(3), torch.ones(1, 3), torch.ones(2, 1), torch.ones(2, 3)]
    made = [model.trace(TEXT, [Edit(0, [1, 2, 3], value=v, tokens=[0, 1])]).final for v in fits]
    assert all(torch.equal(made[0], each) for each in made)
    with pytest.raises(ValueError, match=r"shape \(4,\) cannot be spread.*\(2, 3\)"):
        model.trace(TEXT, [Edit(0, [1, 2, 3], value=torch.ones(4), tokens=[0, 1])])
    with pytest.raises(ValueError, match="value must hold finite floating-point numbers"):
        Edit(0, [1], value=torch.tensor([1.0, float("nan")]))
    with pytest.raises(ValueError, match="at = 'stream' must be one of hidden, ffn"):
        Edit(0, [1], scale=0.0, at="stream")
    with pytest.raises(ValueError, match="no component 16: components are numbered from 0 to 15"):
        model.trace(TEXT, [Edit(0, [16], scale=0.0, at="ffn")])


def test_edits_with_tensors_are_equal_if_their_numbers_are() -> None:
    given = torch.ones(3)
    edit = Edit(0, [1], value=given)
    given.zero_()
    assert edit == Edit(0, [1], value=torch.ones(3))
    assert hash(edit) == hash(Edit(0, [1], value=torch.ones(3)))
    assert edit != Edit(0, [1], value=torch.zeros(3))
    assert edit != Edit(0, [1], value=torch.ones(1, 3))
