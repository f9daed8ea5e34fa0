"""A sentence's tokens in two dimensions: principal component analysis."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Projection:
    """T vectors projected onto the plane in which they vary most."""

    points: NDArray[np.float64]  # (T, 2)
    explained: NDArray[np.float64]  # share of the variance along each axis, (2,), from 0 to 1


def project(vectors: Tensor) -> Projection:
    """Project T vectors, (T, d), onto two principal axes (Pearson 1901; Hotelling 1933).

    The sign of each axis is chosen so that the furthest point is on the positive side. With fewer
    than three tokens an axis stays empty.
    """
    centred = (vectors - vectors.mean(dim=0)).cpu().double()  # (T, d)
    left, singular, _ = torch.linalg.svd(centred, full_matrices=False)
    n_axes = min(2, len(singular))
    points = np.zeros((len(centred), 2))
    points[:, :n_axes] = (left * singular)[:, :n_axes].numpy()
    furthest = points[np.abs(points).argmax(axis=0), [0, 1]]
    points *= np.where(furthest < 0, -1, 1)
    variance = np.zeros(2)
    variance[:n_axes] = singular.square()[:n_axes].numpy()
    total = float(singular.square().sum())
    return Projection(points, variance / total if total > 0 else variance)
