"""Lines, folds and a plane in an FFN: against brute force, least squares and the FFN itself."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.parts.dimensions.folds import folded, layer_at, one_layer, switches
from ffnviz.parts.dimensions.separate import (
    GRID,
    MOST,
    PHIS,
    PRESETS,
    SIDE,
    Points,
    best_line,
    by_width,
    separate,
)
from ffnviz.parts.dimensions.warp import CELLS, COARSE, Warp, pieces, warp
from tests.analysis.networks import network, ours

SMALL = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=1, max_size=7
)


def rule(points: Points, normal: np.ndarray, offset: float) -> int:
    side = points.places @ normal > offset
    return int(max((side == points.first).sum(), (side != points.first).sum()))


@settings(max_examples=40)
@given(SMALL)
def test_no_line_of_very_many_beats_the_best_one(found: list[tuple[int, int, bool]]) -> None:
    points = Points(np.array([p[:2] for p in found]), np.array([p[2] for p in found]))
    best = 0
    for angle in np.linspace(0, np.pi, 181)[:-1] + 1e-3:
        normal = np.array([np.cos(angle), np.sin(angle)])
        along = np.unique(points.places @ normal)
        between = [along[0] - 1, *((along[1:] + along[:-1]) / 2)]
        best = max(best, *(rule(points, normal, offset) for offset in between))
    assert best_line(points) == best


@pytest.mark.parametrize(("preset", "divided"), [("rings", False), ("halves", True)])
def test_a_line_divides_halves_and_no_rings(preset: str, divided: bool) -> None:
    points = PRESETS[preset]()
    assert (best_line(points) == len(points.first)) == divided
    assert len(points.first) <= MOST
    assert points.places.min() >= 0
    assert points.places.max() < SIDE
    corners = np.array([[0, 0], [63, 63], [0, 63], [63, 0]])
    assert best_line(Points(corners, np.array([True, True, False, False]))) == 3


def test_a_wide_layer_divides_what_no_line_divides_but_never_without_phi() -> None:
    for preset in ("rings", "spirals", "xor"):
        points = PRESETS[preset]()
        for phi in ("relu", "gelu", "tanh", "sigmoid"):
            assert separate(points, phi, 64, 0, trained=False).right == len(points.first)
        flat = separate(points, "identity", 64, 0, trained=True)
        assert flat.right <= best_line(points) < len(points.first)
    # A quadratic form can be a ring, and no spiral.
    assert separate(PRESETS["rings"](), "square", 8, 0, trained=False).right == 64
    assert separate(PRESETS["spirals"](), "square", 256, 0, trained=False).right < 40


def test_as_many_dimensions_as_points_are_enough_for_any_classes() -> None:
    rng = np.random.default_rng(0)
    places = rng.permutation(SIDE * SIDE)[:20]
    for _ in range(3):
        points = Points(np.stack(divmod(places, SIDE), axis=1), rng.random(20) < 0.5)
        assert by_width(points, "tanh", (4, 19), draw=1)[-1] == 20


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("phi", PHIS)
def test_the_picture_is_the_networks(phi: str, trained: bool) -> None:
    points = PRESETS["xor"]()
    found = separate(points, phi, 6, 3, trained)
    before = points.xy @ found.weight.T + found.bias
    lifted = PHIS[phi].function(torch.from_numpy(before)).numpy()
    with_one = np.concatenate([lifted, np.ones((64, 1))], axis=1)
    wanted = np.where(points.first, 1.0, -1.0)
    if not trained:  # least squares, by NumPy
        out = np.linalg.lstsq(with_one, wanted, rcond=1e-10)[0]
        score = with_one @ out
        assert_allclose(found.away * np.linalg.norm(out[:-1]), score, atol=1e-8)
    side = found.away > 1e-9
    assert found.right == int((side == points.first).sum())
    assert found.score.shape == (GRID, GRID)
    # The square's corner nearest to a point has the sign that the point has.
    near = np.rint(points.places / (SIDE - 1) * (GRID - 1)).astype(int)
    clear = np.abs(found.away) > 0.25 * np.abs(found.away).max()
    signs = found.score[near[:, 1], near[:, 0]] > 0
    if phi != "identity":
        assert clear.sum() > 10
        assert (signs == side)[clear].all()


def test_training_lowers_the_loss_and_a_wider_network_has_the_narrower_ones_units() -> None:
    before, after = (
        separate(PRESETS["spirals"](), "relu", 8, 0, trained).right for trained in (False, True)
    )
    assert after > before
    points = PRESETS["rings"]()
    narrow, wide = (separate(points, "relu", width, 7, trained=False) for width in (4, 9))
    assert_allclose(wide.weight[:4], narrow.weight)
    assert_allclose(wide.bias[:4], narrow.bias)
    other = separate(points, "relu", 4, 8, trained=False)
    assert not np.allclose(other.weight, narrow.weight)


def test_no_points_and_one_point_are_points_too() -> None:
    for first in ([], [True], [False], [True, True]):
        places = np.arange(2 * len(first)).reshape(-1, 2)
        points = Points(places, np.array(first, dtype=bool))
        assert best_line(points) == len(first)
        for trained in (False, True):
            found = separate(points, "gelu", 3, 0, trained)
            assert found.right == len(first) == len(found.away)
            assert np.isfinite(found.score).all()


FINE = np.linspace(0, 1, 2**14 + 1)


def straight(y: np.ndarray) -> int:
    """Straight stretches of values at FINE, whose corners stand at places of it."""
    slopes = np.diff(y)
    return 1 + int((np.abs(np.diff(slopes)) > 1e-9).sum())


def test_k_folds_make_as_many_pieces_as_two_to_the_k_and_one_layer_needs_a_unit_a_piece() -> None:
    for k in range(1, 9):
        assert straight(folded(FINE, k)) == 2**k
    for k in (1, 3, 5):
        exact = layer_at(FINE, *one_layer(k, 2**k))
        assert_allclose(exact, folded(FINE, k), atol=1e-9)
        for n in range(1, 2**k):
            y = layer_at(FINE, *one_layer(k, n))
            assert straight(y) <= n
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
def test_each_stage_is_on_its_principal_axes(tokenizer: Tokenizer, kind: str, share: float) -> None:
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


def test_the_plane_keeps_distances_and_without_phi_lines_straight(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    inputs = inputs_of(model, 2, 0, 4)
    found = warp(model, 1, inputs, RELU, 8)
    apart = np.linalg.norm(found.tokens[:, None] - found.tokens, axis=-1)
    assert_allclose(apart, torch.cdist(inputs.double(), inputs.double()), atol=1e-5)
    assert (found.corners[0] < found.tokens.min(axis=0)).all()
    assert (found.corners[1] > found.tokens.max(axis=0)).all()
    for stage in (found.output, warp(model, 1, inputs, GELU, 8).hidden):
        size = np.ptp(stage.flat)
        for line in (np.diff(stage.flat, 2, axis=0), np.diff(stage.flat, 2, axis=1)):
            assert np.abs(line).max() < 1e-9 * size
        assert np.abs(np.diff(stage.bent, 2, axis=0)).max() > 1e-4 * size
    same = warp(model, 1, inputs, IDENTITY, 8).output
    assert_allclose(same.bent, same.flat)
    gated = network("gated", tokenizer)
    with pytest.raises(NotForThisNetwork):
        warp(gated, 1, inputs_of(gated, 2, 0, 4), RELU, 8)


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


def test_pieces_are_as_many_as_there_are_patterns_of_sides() -> None:
    side = np.linspace(-1, 1, 601)[1:-1]
    square = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for n_lines in (0, 1, 2, 7):
        rng = np.random.default_rng(n_lines)
        angle, offset = rng.uniform(0, 2 * np.pi, n_lines), rng.uniform(-0.7, 0.7, n_lines)
        lines = np.stack([np.cos(angle), np.sin(angle), offset], axis=1)
        patterns = square @ lines[:, :2].T + lines[:, 2] > 0
        codes = patterns @ (1 << np.arange(n_lines))
        assert pieces(lines, SQUARE) == len(np.unique(codes))


def test_no_stage_is_a_mirror_image_and_patterns_are_few(tokenizer: Tokenizer) -> None:
    """Or the picture would turn over while somebody drags the number of neurons."""
    model = ours(tokenizer)
    for n_neurons in range(2, 9):
        found = warp(model, 1, inputs_of(model, 2, 0, 4), RELU, n_neurons)
        plane = found.plane[::COARSE, ::COARSE].reshape(-1, 2)
        for stage in (found.hidden, found.output):
            points = stage.bent[::COARSE, ::COARSE].reshape(-1, 2)
            for axis in (0, 1):
                assert np.cov(plane[:, axis], points[:, axis])[0, 1] >= -1e-9
        places = found.plane.reshape(-1, 2)
        sides = places @ found.lines[:, :2].T + found.lines[:, 2] > 0
        assert 1 <= len(np.unique(sides, axis=0)) <= found.n_pieces
        if n_neurons == 6:
            assert found.n_pieces > 1


def test_what_is_missing_for_a_plane_is_drawn(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    for tokens in ((2,), (2, 3), (2, 2), (2, 2, 2), (2, 3, 3)):
        found, again = (warp(model, 1, inputs_of(model, *tokens), RELU, 8) for _ in range(2))
        assert abs(np.linalg.det(found.tokens[1:] - found.tokens[0])) > 1e-3
        assert np.isfinite(found.output.bent).all()
        assert_allclose(again.plane, found.plane)
