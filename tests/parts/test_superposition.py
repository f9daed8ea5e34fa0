"""“Superposition”: what is trained keeps what Elhage et al. found, and is what is said."""

import numpy as np
import pytest
import torch

from ffnviz.parts.neurons.superposition import (
    DIMENSIONS,
    FEATURES,
    PERCENT,
    Packed,
    loss_of,
    pack,
    the_counts,
    the_directions,
)
from tests.parts.sheets import drawn, words


@pytest.fixture(scope="module")
def packed() -> Packed:
    return pack(lambda _: None, steps=600)


def test_only_as_many_as_dimensions_fit_if_all_are_active_and_all_if_they_are_rare(
    packed: Packed,
) -> None:
    counts = [packed.held(at) for at in range(len(PERCENT))]
    assert counts[0] == DIMENSIONS
    assert counts[-1] == FEATURES
    assert counts == sorted(counts)


def test_five_rare_features_point_to_the_corners_of_a_pentagon(packed: Packed) -> None:
    weight = packed.weights[-1]
    angles = np.sort(np.degrees(np.arctan2(weight[1], weight[0])))
    gaps = np.diff([*angles, angles[0] + 360])
    assert gaps == pytest.approx([72] * 5, abs=15)


def test_the_loss_is_that_of_a_loop() -> None:
    weight, bias = torch.randn(1, DIMENSIONS, FEATURES), torch.randn(1, 1, FEATURES)
    x = torch.rand(1, 3, FEATURES)
    total = 0.0
    for sample in x[0]:
        hidden = weight[0] @ sample
        out = torch.relu(weight[0].T @ hidden + bias[0, 0])
        total += sum(0.9**i * float(sample[i] - out[i]) ** 2 for i in range(FEATURES))
    assert float(loss_of(weight, bias, x)[0]) == pytest.approx(total / 15, rel=1e-5)


def test_what_is_trained_is_said(packed: Packed) -> None:
    run = drawn("neurons", "wakes", measure=False, activations_view="packed").run
    said = words(the_directions(run, packed, PERCENT.index(2)))
    assert said.startswith("Features that are active 2% of the time: 5 of 5 share 2 dimensions.")
    counts = words(the_counts(run, packed, 0))
    assert "If always active, 2 fit; if active 2% of the time, 5" in counts
