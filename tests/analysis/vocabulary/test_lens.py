"""The stream read early, and a logit taken apart, against computing it directly in float64."""

import numpy as np
import pytest
import torch

from ffnviz.analysis.lens import contributions, largest_gain, read_early
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture
def model(tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", "gelu")


def test_the_last_reading_is_the_prediction(model: Model) -> None:
    trace = model.trace(TEXT)
    word = int(trace.logits[5].argmax())
    readings = read_early(model, trace, 5, word, k=4)
    assert [reading.stage for reading in readings] == [
        "embedding", "attention 1", "FFN 1", "attention 2", "FFN 2", "attention 3", "FFN 3"
    ]  # fmt: skip
    probabilities = trace.logits[5].double().softmax(dim=-1)
    assert readings[-1].rank == 1
    assert readings[-1].probability == pytest.approx(float(probabilities[word]), rel=1e-4)
    assert readings[-1].prediction.ids.tolist() == probabilities.topk(4).indices.tolist()


def test_the_word_gains_most_where_its_log_probability_grows_most(model: Model) -> None:
    trace = model.trace(TEXT)
    readings = read_early(model, trace, 5, int(trace.logits[5].argmax()), k=1)
    before, after = largest_gain(readings)
    grown = np.diff(np.log([reading.probability for reading in readings]))
    assert (before, after) == (readings[grown.argmax()], readings[grown.argmax() + 1])


def test_an_early_reading_is_the_norm_and_the_output_on_the_stream(model: Model) -> None:
    trace = model.trace(TEXT)
    encoder = small_model(model.tokenizer, "pre", "gelu").encoder.double()
    stream = trace.blocks[0].middle[2].double()
    mean, variance = stream.mean(), stream.var(correction=0)
    normed = (stream - mean) / (variance + 1e-5).sqrt()
    norm = encoder.final_norm
    assert isinstance(norm, torch.nn.LayerNorm)
    normed = normed * norm.weight + norm.bias
    logits = encoder.token_embedding.weight @ normed
    reading = read_early(model, trace, 2, 7, k=3)[1]
    assert reading.prediction.ids.tolist() == logits.topk(3).indices.tolist()
    assert reading.probability == pytest.approx(float(logits.softmax(dim=0)[7]), rel=1e-4)
    assert reading.rank == 1 + int((logits > logits[7]).sum())


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_parts_sum_to_the_logit_of_the_twins(twin: str) -> None:
    model = load(twin)
    trace = model.trace("She opened the [MASK] and looked out.")
    for word in trace.logits[3].topk(10).indices.tolist():
        found = contributions(model, trace, 3, word)
        assert found.logit == pytest.approx(float(trace.logits[3, word]))
        assert abs(found.residue) < 1e-4


def test_a_parts_share_is_what_it_writes_along_the_word(model: Model) -> None:
    trace = model.trace(TEXT)
    found = contributions(model, trace, 4, 9)
    encoder = model.encoder
    scale = np.sqrt(trace.blocks[-1].output[4].double().numpy().var() + 1e-5)
    word = encoder.token_embedding.weight[9].double().numpy()
    assert isinstance(encoder.final_norm, torch.nn.LayerNorm)
    gain = encoder.final_norm.weight.double().numpy()
    written = trace.blocks[1].ffn.output[4].double().numpy()
    share = (word * gain * (written - written.mean())).sum() / scale
    # As it arrived in the stream: rounded to what a float32 of the stream's size can hold.
    assert found.added[found.parts.index("FFN 2")] == pytest.approx(share, abs=1e-5)
    assert found.residue == pytest.approx(0, abs=1e-4)


def test_a_part_that_is_left_out_is_missed_by_the_sum(model: Model) -> None:
    trace = model.trace(TEXT)
    found = contributions(model, trace, 4, 9)
    largest = float(np.abs(found.added).max())
    assert abs(found.added.sum() - largest - found.logit) > 1e-3


def test_a_post_norm_stream_is_refused(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "post")
    with pytest.raises(ValueError, match="post-LN"):
        contributions(model, model.trace(TEXT), 1, 2)


def test_the_first_token_can_be_read(model: Model) -> None:
    trace = model.trace("a")
    assert len(read_early(model, trace, 0, 1, k=2)) == 7
    with torch.inference_mode():
        assert abs(contributions(model, trace, 0, 1).residue) < 1e-4
