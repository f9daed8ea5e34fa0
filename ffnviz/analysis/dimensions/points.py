"""Two classes of points in a square, and the best that one straight line can do for them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 64  # places along each edge of the square
MOST = 120
EACH = 32  # points of a class in a preset


@dataclass(frozen=True)
class Points:
    """Points of two classes on a grid of SIDE × SIDE places."""

    places: NDArray[np.int64]  # columns and rows, from 0 to SIDE − 1, the lowest row first, (n, 2)
    first: NDArray[np.bool_]  # which are of the first class, (n,)

    @property
    def xy(self) -> NDArray[np.float64]:
        """The same in the square from −1 to 1, (n, 2)."""
        return self.places / (SIDE - 1) * 2 - 1


def of_xy(one: NDArray[np.float64], other: NDArray[np.float64]) -> Points:
    """Two classes of points in the square from −1 to 1, (n, 2) each, at their nearest places."""
    both = np.concatenate([one, other])
    places = np.rint((np.clip(both, -1, 1) + 1) / 2 * (SIDE - 1)).astype(np.int64)
    return Points(places, np.arange(len(both)) < len(one))


def rings() -> Points:
    """One class around the other."""
    angle = 2 * np.pi * np.arange(EACH) / EACH
    inner = 0.35 * np.sqrt((np.arange(EACH) + 0.5) / EACH)
    turned = 2.4 * np.arange(EACH)  # the golden angle: evenly over the disc
    return of_xy(_polar(inner, turned), _polar(np.full(EACH, 0.8), angle))


def spirals() -> Points:
    """Two arms around each other."""
    along = np.linspace(0.12, 0.95, EACH)
    return of_xy(_polar(along, 7.5 * along), _polar(along, 7.5 * along + np.pi))


def xor() -> Points:
    """Opposite corners belong together (Minsky & Papert 1969)."""
    side = np.linspace(0.25, 0.85, 4)
    corner = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # (16, 2)
    flip = np.array([-1.0, 1.0])
    return of_xy(np.concatenate([corner, -corner]), np.concatenate([corner * flip, -corner * flip]))


def halves() -> Points:
    """A straight line is enough."""
    side = np.linspace(-0.85, 0.85, 8)
    across = np.linspace(0.2, 0.8, 4)
    left = np.stack(np.meshgrid(-across, side), axis=-1).reshape(-1, 2)  # (32, 2)
    lean = np.array([0.0, 0.2])
    return of_xy(left + lean * left[:, :1], -left + lean * left[:, :1])


PRESETS = {"rings": rings, "spirals": spirals, "xor": xor, "halves": halves}


def best_line(points: Points) -> int:
    """How many points lie on their class's side of the best straight line, found exactly.

    Whatever division a line makes, a line through two of the points makes it too, but for the
    points on that line, which a small turn divides at any place along it. All are tried, in whole
    numbers.
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
    """What no line close to each direction can exceed, (k,): all points on it taken as right."""
    side = np.sign(steps @ np.stack([-directions[:, 1], directions[:, 0]]))  # (n, k)
    wanted = np.where(first, 1, -1)[:, None]
    right, wrong = (side == wanted).sum(axis=0), (side == -wanted).sum(axis=0)
    return np.asarray(len(first) - np.minimum(right, wrong))


def _directions(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each direction once, (k, 2)."""
    shortest = steps // np.gcd(np.abs(steps[:, 0]), np.abs(steps[:, 1]))[:, None]
    return np.unique(shortest, axis=0)


def _best_along(
    steps: NDArray[np.int64], first: NDArray[np.bool_], direction: NDArray[np.int64]
) -> int:
    """The most points that the lines close to one line divide rightly."""
    side = steps @ np.array([-direction[1], direction[0]])
    on = side == 0
    left = int((first & (side > 0)).sum() + (~first & (side < 0)).sum())
    right = int((~first & (side > 0)).sum() + (first & (side < 0)).sum())
    along, at = np.unique(steps[on] @ direction, return_inverse=True)
    ones = np.bincount(at, first[on], len(along))
    others = np.bincount(at, ~first[on], len(along))
    # Before each gap on the one side, behind it on the other; and the whole line on either.
    before = np.concatenate([[0], np.cumsum(ones - others)])
    gain, n_ones, n_others = before, ones.sum(), others.sum()
    split = max((n_others + gain).max(), (n_ones - gain).max())
    return int(max(left, right) + split)


def _polar(radius: NDArray[np.floating], angle: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
