"""A plane carried through an FFN, against the FFN itself and against counting."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.parts.dimensions.warp import CELLS, COARSE, Warp, pieces, warp
from tests.analysis.networks import network, ours

TEXT = "The cat sat on it."
RELU, GELU, IDENTITY = (ACTIVATIONS[name] for name in ("relu", "gelu", "identity"))
SQUARE = np.array([[-1.0, -1.0], [1.0, 1.0]])


def inputs_of(model: Network, *tokens: int) -> torch.Tensor:
    return model.trace(TEXT).blocks[1].ffn.input[list(tokens)]


def in_the_stream(model: Network, found: Warp, points: np.ndarray) -> np.ndarray:
    """Points of the plane as FFN inputs, from where its three tokens lie."""
    x = inputs_of(model, 2, 0, 4).double().numpy()
    shares = np.linalg.solve((found.tokens[1:] - found.tokens[0]).T, (points - found.tokens[0]).T)
    placed: np.ndarray = x[0] + shares.T @ (x[1:] - x[0])
    return placed


@pytest.mark.parametrize("kind", ["plain", "no biases", "post-LN", "causal"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_each_stage_is_the_ffns_own_seen_on_its_principal_axes(
    tokenizer: Tokenizer, kind: str, share: float
) -> None:
    model = network(kind, tokenizer)
    found = warp(model, 1, inputs_of(model, 2, 0, 4), GELU, 10**6)
    x = in_the_stream(model, found, found.plane.reshape(-1, 2))
    ffn = model.ffn(1)
    bias = 0 if ffn.key_bias is None else ffn.key_bias.double().numpy()
    before = x @ ffn.keys.double().numpy().T + bias
    after = torch.nn.functional.gelu(torch.from_numpy(before)).numpy()
    values = ffn.values.double().numpy()
    every = np.arange((CELLS + 1) ** 2).reshape(CELLS + 1, -1)[::COARSE, ::COARSE].ravel()
    for stage, whole, flat in (
        (found.hidden, after, before),
        (found.output, after @ values, before @ values),
    ):
        centred = whole[every] - whole[every].mean(axis=0)
        _, singular, axes = np.linalg.svd(centred, full_matrices=False)
        expected = ((1 - share) * flat + share * whole) @ axes[:2].T
        points, _ = stage.at(share)
        points = points.reshape(-1, 2)
        sign = np.sign((points * expected).sum(axis=0))
        assert_allclose(points, sign * expected, atol=1e-5 * np.abs(expected).max())
        assert_allclose(stage.explained, (singular**2 / (singular**2).sum())[:2], rtol=1e-5)


def test_the_plane_keeps_the_tokens_distances(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    inputs = inputs_of(model, 2, 0, 4)
    found = warp(model, 1, inputs, RELU, 8)
    assert_allclose(
        np.linalg.norm(found.tokens[:, None] - found.tokens, axis=-1),
        torch.cdist(inputs.double(), inputs.double()),
        atol=1e-5,
    )
    assert (found.corners[0] < found.tokens.min(axis=0)).all()
    assert (found.corners[1] > found.tokens.max(axis=0)).all()


def test_without_phi_a_straight_line_stays_straight(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    inputs = inputs_of(model, 2, 0, 4)
    for stage in (warp(model, 1, inputs, RELU, 8).output, warp(model, 1, inputs, GELU, 8).hidden):
        size = np.ptp(stage.flat)
        for line in (np.diff(stage.flat, 2, axis=0), np.diff(stage.flat, 2, axis=1)):
            assert np.abs(line).max() < 1e-9 * size
        assert np.abs(np.diff(stage.bent, 2, axis=0)).max() > 1e-4 * size
    same = warp(model, 1, inputs, IDENTITY, 8).output
    assert_allclose(same.bent, same.flat)


def test_the_lines_are_where_a_neuron_is_at_zero_and_divide_the_awake(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    found = warp(model, 1, inputs_of(model, 2, 0, 4), RELU, 10**6)
    ffn = model.ffn(1)
    assert ffn.key_bias is not None
    keys, bias = ffn.keys.double().numpy(), ffn.key_bias.double().numpy()

    def before(points: np.ndarray) -> np.ndarray:
        values: np.ndarray = in_the_stream(model, found, points) @ keys.T + bias
        return values

    assert len(found.lines) > 3
    a, b, c = found.lines.T
    on = np.stack([-a * c, -b * c], axis=1) / (a**2 + b**2)[:, None]
    assert np.abs(before(on)).min(axis=1).max() < 1e-5 * np.abs(before(on)).max()
    middles = (found.plane[:-1, :-1] + found.plane[1:, 1:]) / 2
    awake = (before(middles.reshape(-1, 2)) > 0).sum(axis=1).reshape(CELLS, CELLS)
    assert (found.awake == awake).all()
    (left, low), (right, high) = found.corners
    four = before(np.array([[left, low], [left, high], [right, low], [right, high]])) > 0
    assert len(found.lines) == int((four.any(axis=0) & ~four.all(axis=0)).sum())


@pytest.mark.parametrize("n_lines", [0, 1, 2, 5, 7])
def test_pieces_are_as_many_as_there_are_patterns_of_sides(n_lines: int) -> None:
    rng = np.random.default_rng(n_lines)
    angle, offset = rng.uniform(0, 2 * np.pi, n_lines), rng.uniform(-0.7, 0.7, n_lines)
    lines = np.stack([np.cos(angle), np.sin(angle), offset], axis=1)
    side = np.linspace(-1, 1, 1_201)[1:-1]
    square = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    patterns = square @ lines[:, :2].T + lines[:, 2] > 0
    codes = patterns @ (1 << np.arange(n_lines)) if n_lines else np.zeros(len(square))
    assert pieces(lines, SQUARE) == len(np.unique(codes))


def test_with_relu_there_are_no_more_patterns_than_pieces(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    found = warp(model, 1, inputs_of(model, 2, 0, 4), RELU, 6)
    places = found.plane.reshape(-1, 2)
    patterns = np.unique(places @ found.lines[:, :2].T + found.lines[:, 2] > 0, axis=0)
    assert 1 < len(patterns) <= found.n_pieces


@pytest.mark.parametrize("tokens", [(2,), (2, 3), (2, 2), (2, 2, 2), (2, 3, 3)])
def test_what_is_missing_for_a_plane_is_drawn(
    tokenizer: Tokenizer, tokens: tuple[int, ...]
) -> None:
    model = ours(tokenizer)
    found = warp(model, 1, inputs_of(model, *tokens), RELU, 8)
    sides = found.tokens[1:] - found.tokens[0]
    assert abs(np.linalg.det(sides)) > 1e-3
    assert np.isfinite(found.output.bent).all()
    again = warp(model, 1, inputs_of(model, *tokens), RELU, 8)
    assert_allclose(again.plane, found.plane)


def test_a_gated_ffn_is_refused(tokenizer: Tokenizer) -> None:
    model = network("gated", tokenizer)
    with pytest.raises(NotForThisNetwork):
        warp(model, 1, inputs_of(model, 2, 0, 4), RELU, 8)


def test_no_stage_is_the_planes_mirror_image(tokenizer: Tokenizer) -> None:
    """Or the picture would turn over while somebody drags the number of neurons."""
    model = ours(tokenizer)
    for n_neurons in range(2, 9):
        found = warp(model, 1, inputs_of(model, 2, 0, 4), RELU, n_neurons)
        plane = found.plane[::COARSE, ::COARSE].reshape(-1, 2)
        for stage in (found.hidden, found.output):
            points = stage.bent[::COARSE, ::COARSE].reshape(-1, 2)
            for axis in (0, 1):
                assert np.cov(plane[:, axis], points[:, axis])[0, 1] >= -1e-9
