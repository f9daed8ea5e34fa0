"""“Why wider?”: each error against a fit of its own, and what the page says of them."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.dimensions.wider import DRAWS, TOYS, WIDTHS, Toy, answers, fitted
from ffnviz.pictures.wording import percent
from tests.parts.sheets import drawn

PHIS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + torch.erf(torch.from_numpy(x) / 2**0.5).numpy()) / 2,
}


def by_numpy(toy: Toy, phi: str, d_ff: int, draw: int) -> NDArray[np.float64]:
    """The outputs of one draw, by NumPy's own least squares."""
    x, y = toy.x.numpy(), toy.y.numpy()
    hidden = PHIS[phi](x @ toy.weight[draw, :d_ff].numpy().T + toy.bias[draw, :d_ff].numpy())
    hidden = np.column_stack([hidden, np.ones(len(x))])
    out: NDArray[np.float64] = hidden @ np.linalg.lstsq(hidden, y, rcond=1e-10)[0]
    return out


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("name", TOYS)
def test_each_error_is_that_of_a_least_squares_fit(name: str, phi: str) -> None:
    toy = TOYS[name]()
    for d_ff in WIDTHS:
        errors = fitted(toy, ACTIVATIONS[phi], d_ff).errors
        assert errors.shape == (DRAWS,)
        for draw in (0, 57, 198):
            out, y = by_numpy(toy, phi, d_ff, draw), toy.y.numpy()
            if name == "points":
                expected = np.mean((out > 1e-9) != (y > 0))
            else:
                expected = np.sqrt(np.sum((out - y) ** 2) / np.sum((y - y.mean(axis=0)) ** 2))
            assert errors[draw] == pytest.approx(expected, abs=1e-6), (d_ff, draw)


@pytest.mark.parametrize("name", TOYS)
def test_without_phi_no_width_is_better_than_the_least_error(name: str) -> None:
    toy = TOYS[name]()
    for d_ff in WIDTHS:
        errors = fitted(toy, ACTIVATIONS["identity"], d_ff).errors
        assert errors.min() >= toy.without - 1e-9
    assert toy.without > 0.25


@pytest.mark.parametrize("name", ["curve", "pairs"])
def test_the_line_without_phi_is_numpys(name: str) -> None:
    toy = TOYS[name]()
    x, y = np.column_stack([toy.x.numpy(), np.ones(len(toy.x))]), toy.y.numpy()
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    expected = np.sqrt(np.sum(rest**2) / np.sum((y - y.mean(axis=0)) ** 2))
    assert toy.without == pytest.approx(expected)


@pytest.mark.parametrize("phi", PHIS)
def test_wider_is_better_and_the_widest_stores_all_pairs(phi: str) -> None:
    for name, answer in answers(ACTIVATIONS[phi]).items():
        medians = [fit.median for fit in answer.fits]
        assert medians[-1] < 0.1 < medians[0], name
        if name != "points":  # a least squares fit with more columns is no worse
            assert medians == sorted(medians, reverse=True), name
        for fit in answer.fits:
            off = answer.toy.error(fit.middle(answer.toy.x), answer.toy.y)
            assert float(off) == pytest.approx(fit.median, abs=1e-9)
    assert answers(ACTIVATIONS[phi])["pairs"].fits[-1].median < 1e-4  # 16 neurons, 16 pairs


@pytest.mark.parametrize("network", ["relu", "gelu"])
def test_the_page_says_the_errors(network: str) -> None:
    said = drawn("dimensions", "wider", twin=network, wider="16").said
    found = answers(ACTIVATIONS[network]).values()
    for answer in found:
        assert percent(answer.fits[-1].median) in said
    one, two, three = (percent(answer.toy.without) for answer in found)
    assert f"Without φ these errors are {one}, {two} and {three}." in said
    one, two, three = (percent(answer.fits[1].median) for answer in found)
    assert f"no wider (d_ff = d_model), they are {one}, {two} and {three};" in said
    assert "d_model is 2 in these toys" in said
