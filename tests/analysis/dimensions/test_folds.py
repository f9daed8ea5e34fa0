"""Pieces of folded lines and of a network, counted by brute force."""

import numpy as np
import pytest

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.dimensions.folds import folded, layer_at, one_layer, switches
from tests.analysis.networks import network

FINE = np.linspace(0, 1, 2**14 + 1)


def pieces(y: np.ndarray) -> int:
    """Straight stretches of values at FINE, whose corners stand at places of it."""
    slopes = np.diff(y)
    return 1 + int((np.abs(np.diff(slopes)) > 1e-9).sum())


@pytest.mark.parametrize("k", range(1, 9))
def test_k_folds_make_as_many_pieces_as_two_to_the_k(k: int) -> None:
    assert pieces(folded(FINE, k)) == 2**k


@pytest.mark.parametrize("k", [1, 3, 6])
def test_one_layer_needs_a_unit_a_piece(k: int) -> None:
    exact = layer_at(FINE, *one_layer(k, 2**k))
    np.testing.assert_allclose(exact, folded(FINE, k), atol=1e-9)
    for n in range(1, 2**k):
        y = layer_at(FINE, *one_layer(k, n))
        assert pieces(y) <= n
        right = np.abs(y - folded(FINE, k)) < 1e-9
        assert right[n / 2**k >= FINE].all()


@pytest.mark.parametrize("kind", ["plain", "gated", "stranger", "one block", "nine blocks"])
def test_switches_are_those_of_passes_one_by_one(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    trace = model.trace("The cat sat on the mat.")
    counts = switches(model, trace, 0, (1, 4), n=65)
    assert len(counts) == min(2, len(trace.blocks))
    before, changed = None, np.zeros(len(counts), dtype=int)
    for share in np.linspace(0, 1, 65):
        stream, signs = None, []
        for number in range(len(counts)):
            block = trace.blocks[number]
            if stream is None:
                stream = (1 - share) * block.middle[1] + share * block.middle[4]
            else:
                heard = block.middle - trace.blocks[number - 1].output
                stream = stream + (1 - share) * heard[1] + share * heard[4]
            view = model.ffn(number)
            read = view.reads(stream.float()[None])
            z = (read @ view.keys.mT)[0]
            signs.append((z if view.key_bias is None else z + view.key_bias) > 0)
            stream = stream + view.stages(read).output[0]
        if before is not None:
            changed += [int((a != b).sum()) for a, b in zip(signs, before, strict=True)]
        before = signs
    # Rounding may have a neuron switch one place later, and two such at the very end.
    assert np.abs(np.array([each[-1] for each in counts]) - changed.cumsum()).max() <= 2
    assert counts[0][0] == 0
