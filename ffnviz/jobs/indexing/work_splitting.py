"""Cutting a corpus into pieces of some minutes' work each, the large ones first.

The larger a network, the smaller its pieces, or a run that is killed loses an hour of each worker's
work and reports nothing for as long. They follow from the corpus, the network and its device, never
from the workers: which texts share a batch decides the last bits of their values.
"""

from collections.abc import Sequence
from dataclasses import replace

from ffnviz.jobs.indexing import sources
from ffnviz.jobs.indexing.sources import Piece
from ffnviz.models.card import Sizes

WEIGHTS = 2**23  # of a network that counts a piece as `pieces_of` cuts it in a minute or two
LEAST_BYTES = 2**14  # some thousand tokens: adding up a piece costs as much as some of them


def piece_bytes(sizes: Sizes, device: str) -> int:
    """The bytes of a text file that make one piece.

    The more weights the blocks have, the longer a CPU takes; a GPU is as fast as hundreds of them.
    """
    if device != "cpu":
        return sources.PIECE_BYTES
    attention, ffn = 4 * sizes.d_model**2, 2 * sizes.d_model * sizes.d_ff
    weights = sizes.n_blocks * (attention + ffn)
    return min(sources.PIECE_BYTES, max(LEAST_BYTES, sources.PIECE_BYTES * WEIGHTS // weights))


def cut(pieces: Sequence[Piece], most: int) -> tuple[Piece, ...]:
    """The corpus in pieces of at most so many bytes, numbered anew.

    A packed file stays whole, for it is read from its start, and so does a row group of a .parquet.
    """
    cut_pieces: list[Piece] = []
    for piece in pieces:
        if piece.end is None or piece.kind == ".parquet":
            cut_pieces.append(replace(piece, number=len(cut_pieces)))
            continue
        for start, end in sources.stretches(piece.start, piece.end, most):
            cut_pieces.append(replace(piece, number=len(cut_pieces), start=start, end=end))
    return tuple(cut_pieces)


def largest_first(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with the largest first, so that no process works on alone at the end.

    A packed file comes before all, for it is read from end to end by one of them.
    """
    return sorted(
        pieces, key=lambda piece: (piece.end is None, (piece.end or 0) - piece.start), reverse=True
    )
