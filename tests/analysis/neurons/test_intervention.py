"""What an edit changes, what each neuron adds, and the masked words it spoils, by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from ffnviz.analysis.lens import contributions
from ffnviz.analysis.neurons.intervention import (
    ProbeLoss,
    change,
    direct_contributions,
    masked_loss,
)
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.trace import StreamTrace
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."
SENTENCES = (
    "The cat sat.",
    "She had opened the door.",
    "Who is it?",
    "The river was wide.",
    "He said no.",
    "So they sat.",
)
PROBES = [Probe(text, ()) for text in SENTENCES]


def test_a_change_is_the_distance_of_the_two_passes(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    plain, edited = model.trace(TEXT), model.trace(TEXT, edits=[Edit(1, range(32), scale=0.0)])
    found = change(plain, edited, token=2)
    assert found.output[0] == found.stream[0] == 0  # what lies before an edit stays
    bias = model.encoder.blocks[1].ffn.compress.bias  # all that a sleeping FFN writes
    full = plain.blocks[1].ffn.output[2]
    assert found.output[1] == pytest.approx(float((full - bias).norm() / full.norm()), rel=1e-5)
    p, q = (t.logits[2].double().softmax(dim=-1) for t in (plain, edited))
    assert found.divergence == pytest.approx(float((p * (p / q).log()).sum()), rel=1e-6)
    assert change(plain, plain, token=2).divergence == 0


def test_the_neurons_contributions_sum_to_their_ffns(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    added = direct_contributions(model, trace, token=3, word=50)
    parts = contributions(model, trace, token=3, word=50)
    norm = model.encoder.final_norm
    stream = trace.blocks[-1].output[3]
    scale = float((stream.var(correction=0) + 1e-5).sqrt())
    reads = model.encoder.token_embedding.weight[50] * norm.weight / scale  # type: ignore[operator]
    for number, block in enumerate(model.encoder.blocks):
        bias = block.ffn.compress.bias
        from_bias = float(reads @ (bias - bias.mean()))
        whole = float(parts.added[parts.parts.index(f"FFN {number + 1}")])
        assert added[number].sum() + from_bias == pytest.approx(whole, abs=1e-4)


def test_switching_off_a_neuron_of_the_last_block_takes_away_what_it_added(
    tokenizer: Tokenizer,
) -> None:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    neuron = int(np.abs(direct_contributions(model, trace, 3, 50)[2]).argmax())
    edited = model.trace(TEXT, edits=[Edit(2, [neuron], scale=0.0, tokens=[3])])
    # With the LayerNorm's scale held, as the contribution holds it.
    before, after = (t.blocks[-1].output[3] for t in (trace, edited))
    scale = (before.var(correction=0) + 1e-5).sqrt()
    gain = model.encoder.final_norm.weight
    moved = (before - after - (before - after).mean()) * gain / scale  # type: ignore[operator]
    taken = float(moved @ model.encoder.token_embedding.weight[50])
    assert taken == pytest.approx(direct_contributions(model, trace, 3, 50)[2, neuron], rel=1e-3)


def test_a_post_norm_stream_is_not_taken_apart(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "post")
    with pytest.raises(ValueError, match="post-LN"):
        direct_contributions(model, model.trace(TEXT), 3, 50)


def test_the_masked_loss_is_the_cross_entropy_at_the_masked_tokens(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small_model(tokenizer, "pre")
    edits = [Edit(0, range(32), scale=0.0)]
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    run = Model.run

    def watched(self: Model, ids: torch.Tensor, given: Sequence[Edit]) -> StreamTrace:
        found = run(self, ids, given)
        seen.append((ids, model.encoder(ids, given).logits))
        return found

    monkeypatch.setattr(Model, "run", watched)
    done: list[float] = []
    losses = masked_loss(model, PROBES, edits, done.append)
    true: dict[int, list[list[int]]] = {}
    for row in tokenizer.encode_many(SENTENCES):
        true.setdefault(len(row), []).append(row)
    expected: list[float] = []
    for inputs, logits in seen:
        for place, row in enumerate(true[inputs.shape[1]]):
            masked = [t for t, id_ in enumerate(inputs[place].tolist()) if id_ == tokenizer.mask_id]
            assert len(masked) == max(1, round(0.2 * len(row)))
            expected += [-float(logits[place, t].log_softmax(-1)[row[t]]) for t in masked]
    np.testing.assert_allclose(sorted(losses), sorted(expected), rtol=1e-4)
    assert done[-1] == 1


def test_the_same_tokens_are_masked_with_and_without_an_edit(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    plain, again = masked_loss(model, PROBES), masked_loss(model, PROBES)
    np.testing.assert_array_equal(plain, again)
    found = ProbeLoss(plain, masked_loss(model, PROBES, [Edit(0, range(32), 0.0, tokens=[0])]))
    everywhere = masked_loss(model, PROBES, [Edit(0, range(32), scale=0.0)])
    np.testing.assert_array_equal(found.edited, everywhere)
    assert found.worse == pytest.approx(float(np.mean(everywhere) - np.mean(plain)))
    assert found.worse != 0
    difference = everywhere - plain
    by_hand = np.sqrt(((difference - difference.mean()) ** 2).sum() / (len(difference) - 1))
    assert found.error == pytest.approx(by_hand / len(difference) ** 0.5)
