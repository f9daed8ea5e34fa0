"""Two classes of points in a square, and the best straight line between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 64  # grid positions along each edge of the square
MOST = 120
PER_CLASS = 32  # points of a class in a preset


@dataclass(frozen=True)
class Points:
    """Points of two classes on a grid of SIDE × SIDE."""

    places: NDArray[np.int64]  # columns and rows, from 0 to SIDE − 1, the lowest row first, (n, 2)
    first: NDArray[np.bool_]  # whether each is of the first class, (n,)

    @property
    def xy(self) -> NDArray[np.float64]:
        """The points in the square from −1 to 1, (n, 2)."""
        return self.places / (SIDE - 1) * 2 - 1


def of_xy(one: NDArray[np.float64], other: NDArray[np.float64]) -> Points:
    """Two classes of points in the square from −1 to 1, (n, 2) each, moved to the grid."""
    xy = np.concatenate([one, other])
    places = np.rint((np.clip(xy, -1, 1) + 1) / 2 * (SIDE - 1)).astype(np.int64)
    return Points(places, np.arange(len(xy)) < len(one))


def rings() -> Points:
    """One class around the other."""
    number = np.arange(PER_CLASS)
    inner = 0.35 * np.sqrt((number + 0.5) / PER_CLASS)
    disc = _polar(inner, 2.4 * number)  # the golden angle spreads them evenly
    return of_xy(disc, _polar(np.full(PER_CLASS, 0.8), 2 * np.pi * number / PER_CLASS))


def spirals() -> Points:
    """Two arms around each other."""
    radius = np.linspace(0.12, 0.95, PER_CLASS)
    return of_xy(_polar(radius, 7.5 * radius), _polar(radius, 7.5 * radius + np.pi))


def xor() -> Points:
    """Opposite corners are of one class (Minsky & Papert 1969)."""
    side = np.linspace(0.25, 0.85, 4)
    corner = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (16, 2)
    flip = np.array([-1.0, 1.0])
    return of_xy(np.concatenate([corner, -corner]), np.concatenate([corner * flip, -corner * flip]))


def halves() -> Points:
    """Two classes that a straight line divides."""
    y, x = np.linspace(-0.85, 0.85, 8), np.linspace(0.2, 0.8, 4)
    left = np.stack(np.meshgrid(-x, y), axis=-1).reshape(-1, 2)  # (32, 2)
    slope = np.array([0.0, 0.2])
    return of_xy(left + slope * left[:, :1], -left + slope * left[:, :1])


PRESETS = {"rings": rings, "spirals": spirals, "xor": xor, "halves": halves}


def best_line(points: Points) -> int:
    """How many points lie on their class's side of the best straight line, computed exactly.

    Whatever division a line makes, a line through two of the points makes too, except for the
    points on that line, which a slight rotation divides anywhere along it. All such lines are
    tried, in whole numbers.
    """
    first, n = points.first, len(points.first)
    best = max(int(first.sum()), int((~first).sum()))
    places = np.unique(points.places, axis=0)
    for place in range(len(places) - 1):
        steps = points.places - places[place]
        directions = _directions(places[place + 1 :] - places[place])
        for direction in directions[_at_most(steps, first, directions) > best]:
            best = max(best, _best_along(steps, first, direction))
        if best == n:
            break
    return best


def _at_most(
    steps: NDArray[np.int64], first: NDArray[np.bool_], directions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """An upper bound for lines close to each direction, (k,): points on it count as right."""
    side = np.sign(steps @ np.stack([-directions[:, 1], directions[:, 0]]))  # (n, k)
    target = np.where(first, 1, -1)[:, None]
    right, wrong = (side == target).sum(axis=0), (side == -target).sum(axis=0)
    return np.asarray(len(first) - np.minimum(right, wrong))


def _directions(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each direction once, (k, 2)."""
    shortest = steps // np.gcd(np.abs(steps[:, 0]), np.abs(steps[:, 1]))[:, None]
    return np.unique(shortest, axis=0)


def _best_along(
    steps: NDArray[np.int64], first: NDArray[np.bool_], direction: NDArray[np.int64]
) -> int:
    """The most points that a line close to the one in this direction puts on their class's side."""
    side = steps @ np.array([-direction[1], direction[0]])
    on = side == 0
    left = int((first & (side > 0)).sum() + (~first & (side < 0)).sum())
    right = int((~first & (side > 0)).sum() + (first & (side < 0)).sum())
    positions, index = np.unique(steps[on] @ direction, return_inverse=True)
    ones = np.bincount(index, first[on], len(positions))
    others = np.bincount(index, ~first[on], len(positions))
    # A rotation puts what lies before a gap on one side and the rest on the other.
    gain = np.concatenate([[0], np.cumsum(ones - others)])
    split = max((others.sum() + gain).max(), (ones.sum() - gain).max())
    return int(max(left, right) + split)


def _polar(radius: NDArray[np.floating], angle: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
