"""Orders of the neurons that make structure visible."""

import numpy as np
from numpy.typing import NDArray

ORDERS = ("token", "strength", "index")


def neuron_order(hidden: NDArray[np.floating], by: str) -> NDArray[np.int64]:
    """A permutation of the neurons.

    Args:
        hidden: (T, d_ff).
        by: "token": by the token on which a neuron is strongest, the strongest first, and those
            that are zero everywhere last; "strength": by the largest |hidden|; "index": as they
            are numbered in the weights.

    Returns:
        (d_ff,): the neuron to draw at each place.

    Raises:
        ValueError: on any other `by`.
    """
    if by == "index":
        return np.arange(hidden.shape[1])
    magnitude = np.abs(hidden)
    strongest = magnitude.max(axis=0)
    if by == "strength":
        return np.argsort(-strongest, kind="stable")
    if by == "token":
        token = np.where(strongest > 0, magnitude.argmax(axis=0), len(hidden))
        return np.lexsort((-strongest, token))
    raise ValueError(f"by = {by!r} is not allowed: it must be one of {', '.join(ORDERS)}.")
