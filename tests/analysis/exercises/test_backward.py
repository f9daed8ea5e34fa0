"""One step of learning by hand, against PyTorch's gradients."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ffnviz.analysis.by_hand import small_ffn
from ffnviz.parts.exercises.by_hand import Backward, backward, blanks_back

SEEDS = range(300)


@pytest.fixture(scope="module")
def exercises() -> list[Backward]:
    return [backward(small_ffn(seed)) for seed in SEEDS]


def by_autograd(exercise: Backward) -> list[float]:
    """The gradients of ½ ‖y − t‖² for y, h and z, and for the first row of W₁."""
    ffn = exercise.ffn
    given = (ffn.x, ffn.w1, ffn.b1, ffn.w2, ffn.b2, exercise.target)
    x, w1, b1, w2, b2, target = (torch.tensor(each, dtype=torch.float64) for each in given)
    w1.requires_grad_()
    z = x @ w1 + b1
    h = torch.relu(z)
    y = h @ w2 + b2
    loss = (y - target).square().sum() / 2
    at_y, at_h, at_z, at_w1 = torch.autograd.grad(loss, [y, h, z, w1])
    return [*at_y.tolist(), *at_h.tolist(), *at_z.tolist(), *at_w1[0].tolist()]


def test_autograd_has_the_same_gradients(exercises: list[Backward]) -> None:
    for exercise in exercises:
        assert [blank.right for blank in blanks_back(exercise)] == by_autograd(exercise)


def test_an_inactive_neuron_learns_nothing_and_the_slip_says_so(exercises: list[Backward]) -> None:
    for exercise in exercises:
        dead = int(exercise.ffn.z.argmin())
        blanks = blanks_back(exercise)
        assert not exercise.at_w1[:, dead].any()
        assert blanks[5 + dead].right == blanks[8 + dead].right == 0
        (slip,) = blanks[5 + dead].slips
        assert slip.value == exercise.at_h[dead] != 0
        assert "flat" in slip.message


def test_no_slip_is_right_and_a_gap_follows_from_those_it_reads(exercises: list[Backward]) -> None:
    for exercise in exercises:
        blanks = blanks_back(exercise)
        for blank in blanks:
            assert blank.right not in {slip.value for slip in blank.slips}
            if blank.reads:
                made = blank.plus + sum(blanks[at].right * weight for at, weight in blank.reads)
                assert made == blank.right


def test_a_step_against_the_gradient_lowers_the_loss(exercises: list[Backward]) -> None:
    def loss(exercise: Backward, w1: NDArray[np.float64]) -> float:
        ffn = exercise.ffn
        h = np.maximum(ffn.x @ w1 + ffn.b1, 0)
        return float(((h @ ffn.w2 + ffn.b2 - exercise.target) ** 2).sum() / 2)

    for exercise in exercises[:100]:
        w1 = exercise.ffn.w1.astype(float)
        assert loss(exercise, w1 - 1e-4 * exercise.at_w1) < loss(exercise, w1)
