"""One number taken apart: its terms add up to it, and the arrays give it again."""

import numpy as np
import pytest

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.neurons.arithmetic import DotProduct, logit, output_component, pre_activation
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(params=["pre_activation", "output", "logit"])
def taken_apart(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> tuple[DotProduct, float]:
    model = small_model(tokenizer, "pre")
    trace = model.trace(TEXT)
    block = trace.blocks[1]
    if request.param == "pre_activation":
        return pre_activation(model, trace, 1, 4, 20), float(block.ffn.pre_activation[4, 20])
    if request.param == "output":
        return output_component(model, trace, 1, 4, 11), float(block.ffn.output[4, 11])
    return logit(model, trace, 4, 77), float(trace.logits_at(4)[77])


def test_the_terms_the_rest_and_the_bias_add_up_to_the_number(
    taken_apart: tuple[DotProduct, float],
) -> None:
    found, number = taken_apart
    assert found.total == number
    shown = sum(float(found.left[i]) * float(found.right[i]) for i in found.largest)
    assert shown + found.rest + found.bias == pytest.approx(number, abs=1e-5)
    assert abs(found.residue) < 1e-5


def test_the_terms_shown_are_the_most_positive_then_the_most_negative(
    taken_apart: tuple[DotProduct, float],
) -> None:
    found, _ = taken_apart
    products = found.left.astype(float) * found.right
    above = sorted((v for v in products if v > 0), reverse=True)[:6]
    below = sorted((v for v in products if v < 0), reverse=True)[-6:]
    np.testing.assert_allclose(products[found.largest], above + below)
    assert len(set(found.largest.tolist())) == len(found.largest)


def test_the_arrays_alone_give_the_number_again(taken_apart: tuple[DotProduct, float]) -> None:
    found, number = taken_apart
    again = float(found.left @ found.right + np.float32(found.bias))
    assert again == pytest.approx(number, abs=1e-5)
