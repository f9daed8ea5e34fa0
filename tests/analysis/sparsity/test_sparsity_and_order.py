"""Counting awake neurons, and putting neurons in an order that shows structure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ffnviz.analysis.journey import ORDERS, ffn_path, neuron_order
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import Model, load

HIDDEN = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-4, 4, width=32),
)


@pytest.fixture(scope="module")
def model(model_folder: str) -> Model:
    return load(model_folder)


@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.1])
def test_awake_neurons_are_counted_as_numpy_counts_them(model: Model, threshold: float) -> None:
    trace = model.trace("The cat sat on the [MASK].")
    hidden = trace.blocks[1].ffn.hidden.numpy()
    counted = awake(trace, 1, threshold)
    np.testing.assert_array_equal(counted.counts, (np.abs(hidden) > threshold).sum(axis=1))
    np.testing.assert_allclose(counted.shares, (np.abs(hidden) > threshold).mean(axis=1))
    assert counted.share == pytest.approx((np.abs(hidden) > threshold).mean())


def test_only_relu_has_exact_zeros() -> None:
    assert threshold_for(ACTIVATIONS["relu"]) == 0.0
    assert threshold_for(ACTIVATIONS["gelu"]) > 0.0


@given(hidden=HIDDEN, by=st.sampled_from(ORDERS))
def test_every_order_shows_every_neuron_once(hidden: np.ndarray, by: str) -> None:
    assert sorted(neuron_order(hidden, by)) == list(range(hidden.shape[1]))


@given(hidden=HIDDEN)
def test_by_token_each_tokens_neurons_stand_together_the_strongest_first(
    hidden: np.ndarray,
) -> None:
    ordered = np.abs(hidden)[:, neuron_order(hidden, "token")]
    strongest = ordered.max(axis=0)
    token = np.where(strongest > 0, ordered.argmax(axis=0), len(hidden))
    assert (np.diff(token) >= 0).all()  # silent neurons last
    same = token[1:] == token[:-1]
    assert (np.diff(strongest)[same] <= 0).all()


@given(hidden=HIDDEN)
def test_by_strength_the_strongest_come_first(hidden: np.ndarray) -> None:
    strongest = np.abs(hidden).max(axis=0)[neuron_order(hidden, "strength")]
    assert (np.diff(strongest) <= 0).all()


def test_an_unknown_order_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"'colour'.*token, strength, index"):
        neuron_order(np.ones((2, 3)), "colour")


def test_the_path_of_a_token_is_the_traces(model: Model) -> None:
    trace = model.trace("The cat sat.")
    record = trace.blocks[0]
    path = ffn_path(trace, 0, 2)
    np.testing.assert_array_equal(path.input, record.ffn.input[2].numpy())
    np.testing.assert_array_equal(path.pre_activation, record.ffn.pre_activation[2].numpy())
    np.testing.assert_array_equal(path.hidden, record.ffn.hidden[2].numpy())
    np.testing.assert_array_equal(path.output, record.ffn.output[2].numpy())
    # What the picture says: stream + output = new stream.
    np.testing.assert_array_equal(path.stream + path.output, path.new_stream)
