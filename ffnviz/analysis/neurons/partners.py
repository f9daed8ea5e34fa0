"""Which neurons fire together, from a sketch whose size does not depend on the number of pairs.

Every sampled token gets M signs of its own. A neuron's sketch is the sum of the signs of the tokens
on which it fires; the product of two sketches is, on average, M times the number of tokens on which
both fire (Alon, Matias & Szegedy 1996, "The space complexity of approximating the frequency
moments"). All are whole numbers, so sketches can be added in any order.
"""

import numpy as np
from numpy.typing import NDArray

M = 512  # signs per token
SAMPLED = 4  # one token in four
SHOWN = 8
SURE = 4.0  # standard errors above zero from which a partnership counts
MOST = 2**14  # neurons: all pairs of more would take too long
_ROWS = 1_024  # of the table of all pairs, at a time

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers by splitmix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(_STEP)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
        return np.asarray(z ^ (z >> np.uint64(31)))


def signs(places: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Whether each token is sampled, (n,), and the signs of those that are, by their places."""
    seeds = mixed(places)
    sampled = seeds % np.uint64(SAMPLED) == 0
    words = np.arange(1, M // 64 + 1, dtype=np.uint64)
    bits = mixed(seeds[sampled][:, None] ^ (words * np.uint64(_STEP))[None])
    as_bytes = bits.astype("<u8").view(np.uint8).reshape(len(bits), M // 8)
    return sampled, np.unpackbits(as_bytes, axis=1).astype(np.int8) * 2 - 1


def partners(
    sketches: NDArray[np.int64], fired: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Each neuron's strongest partners, and how alike they fire.

    Args:
        sketches: (d_ff, M), or (0, M) for more than MOST neurons.
        fired: the sampled tokens on which each fired, (d_ff,).

    Returns:
        The partners, (SHOWN, d_ff), −1 where there are no more that are surely partners, and the
        estimated cosine between the two, both / √(one · other), from 0 to 1, (SHOWN, d_ff).
    """
    d_ff, m = len(fired), sketches.shape[1]
    neurons = np.full((SHOWN, d_ff), -1, dtype=np.int32)
    alike = np.zeros((SHOWN, d_ff), dtype=np.float32)
    awake = np.flatnonzero(fired)  # a neuron that never fires has no partners
    if not len(sketches):
        return neurons, alike
    exact = sketches[awake].astype(np.float64)  # products below 2**53 are exact, in any order
    length = np.sqrt(fired[awake].astype(np.float64))
    for start in range(0, len(awake), _ROWS):
        rows = slice(start, min(start + _ROWS, len(awake)))
        cosine = exact[rows] @ exact.T / (m * length[rows, None] * length[None])
        cosine[np.arange(len(cosine)), np.arange(rows.start, rows.stop)] = -np.inf
        for neuron, row in zip(awake[rows], np.minimum(cosine, 1.0), strict=True):
            sure = np.flatnonzero(row > SURE / np.sqrt(m))
            best = sure[np.argsort(-row[sure], kind="stable")[:SHOWN]]
            neurons[: len(best), neuron] = awake[best]
            alike[: len(best), neuron] = row[best]
    return neurons, alike
