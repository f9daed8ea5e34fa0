"""One step of learning by hand: the gradient of L = ½ ‖y − t‖² through y = ReLU(x W₁ + b₁) W₂ + b₂.

The chain rule, layer by layer (Rumelhart, Hinton & Williams 1986): ∂L/∂y = y − t,
∂L/∂h = ∂L/∂y W₂ᵀ, ∂L/∂z = ∂L/∂h where z > 0 and 0 elsewhere, ∂L/∂W₁ = xᵀ ∂L/∂z.
"""

from dataclasses import dataclass

import numpy as np

from ffnviz.analysis.exercises.blank import Blank, Slip, bracketed, distinct, sign_slips, written
from ffnviz.analysis.exercises.by_hand import D_FF, D_MODEL, LARGEST, SIGNS, Ints, SmallFfn, pairs

Y, T, W2, Z, X = range(5)  # the tables, in the order in which the steps give them


@dataclass(frozen=True, eq=False)
class Backward:
    """The gradients of one exercise.

    Attributes:
        ffn: the small FFN, whose forward pass is given.
        target: t, what y should have been, (d_model,).
    """

    ffn: SmallFfn
    target: Ints

    @property
    def at_y(self) -> Ints:
        """∂L/∂y, (d_model,)."""
        return self.ffn.y - self.target

    @property
    def at_h(self) -> Ints:
        """∂L/∂h, (d_ff,)."""
        return self.at_y @ self.ffn.w2.T

    @property
    def at_z(self) -> Ints:
        """∂L/∂z, (d_ff,)."""
        return np.where(self.ffn.z > 0, self.at_h, 0)

    @property
    def at_w1(self) -> Ints:
        """∂L/∂W₁, (d_model, d_ff)."""
        return np.outer(self.ffn.x, self.at_z)


def backward(ffn: SmallFfn) -> Backward:
    """The exercise of an FFN: the first random target at which no hidden gradient is 0.

    y misses it by 1 to 3 in each component.
    """
    rng = np.random.default_rng((ffn.seed, 1))
    while True:
        off = rng.integers(1, LARGEST + 1, D_MODEL) * rng.choice([-1, 1], D_MODEL)
        exercise = Backward(ffn, ffn.y - off)
        if exercise.at_h.all():
            return exercise


def blanks_back(exercise: Backward) -> list[Blank]:
    """The numbers to fill in: ∂L/∂y, ∂L/∂h and ∂L/∂z as dy, dh and dz, and dW₁'s first row."""
    at_y = [_at_y(exercise, k) for k in range(D_MODEL)]
    at_h = [_at_h(exercise, j) for j in range(D_FF)]
    at_z = [_at_z(exercise, j) for j in range(D_FF)]
    at_w1 = [_at_w1(exercise, j) for j in range(D_FF)]
    return [distinct(blank) for blank in (*at_y, *at_h, *at_z, *at_w1)]


def _at_y(exercise: Backward, k: int) -> Blank:
    y, t = int(exercise.ffn.y[k]), int(exercise.target[k])
    slips = (
        Slip("sign", t - y, f"Sign: it is y{SIGNS[k]} − t{SIGNS[k]}, not the other way round."),
        Slip("sign", y + t, f"Sign: t{SIGNS[k]} is taken away, not added."),
    )
    return Blank(f"dy{SIGNS[k]}", y - t, slips, uses=((Y, None, k), (T, None, k)))


def _at_h(exercise: Backward, j: int) -> Blank:
    weights, other = exercise.ffn.w2[j], (j + 1) % D_FF
    right = int(exercise.at_h[j])
    slips = sign_slips(pairs(exercise.at_y, weights), right)
    message = f"Row: h{SIGNS[j]} reaches y by row {j + 1} of W₂, not row {other + 1}."
    slips.append(Slip("row", int(exercise.at_h[other]), message))
    reads = tuple((k, float(weights[k])) for k in range(D_MODEL))
    return Blank(f"dh{SIGNS[j]}", right, tuple(slips), reads=reads, uses=((W2, j, None),))


def _at_z(exercise: Backward, j: int) -> Blank:
    z, wrong = f"z{SIGNS[j]}", int(exercise.at_h[j])
    reads: tuple[tuple[int, float], ...] = ()
    message = f"φ: {z} is below 0, where ReLU is flat: nothing comes through."
    if exercise.ffn.z[j] > 0:
        wrong, reads = 0, ((D_MODEL + j, 1.0),)
        message = f"φ: {z} is above 0, where ReLU has the slope 1: all comes through."
    return Blank(f"d{z}", int(exercise.at_z[j]), (Slip("φ", wrong, message),), reads=reads,
                 uses=((Z, None, j),))  # fmt: skip


def _at_w1(exercise: Backward, j: int) -> Blank:
    first, other = map(int, exercise.ffn.x)
    gradient, z = int(exercise.at_z[j]), D_MODEL + D_FF + j
    slips = (
        Slip("column", other * gradient, "Row: the first row of W₁ is read by x₁, not by x₂."),
        Slip("sign", -first * gradient, f"Sign: {written(first)} · {bracketed(gradient)}."),
        Slip("terms", gradient, "The gradient of z is still to be multiplied with x₁."),
    )
    return Blank(f"dw₁{SIGNS[j]}", first * gradient, slips, reads=((z, float(first)),),
                 uses=((X, None, 0),))  # fmt: skip
