"""What was typed into the gaps of an exercise, as a link keeps it."""

import re
import zlib
from collections.abc import Sequence

from ffnviz.pictures.by_hand import LONGEST
from ffnviz.state.settings import Setting

MOST = 11  # gaps
OTHER_SIGNS = re.compile("[^0-9.+-]")  # that no number needs
NAME = re.compile("[0-9a-f]{8}")
Typed = tuple[str, ...]  # the exercise's name, and what stands in each gap


def read(text: str) -> Typed:
    """A link's text: "a1b2c3d4_4_-2" has the answers 4 and −2 to the exercise a1b2c3d4."""
    name, *gaps = text.split("_")[: MOST + 1]
    return (name, *map(plain, gaps)) if NAME.fullmatch(name) else ()


def plain(text: str) -> str:
    """A typed number with the signs that a link has, cut to what a gap takes."""
    usual = text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-").replace(",", ".")
    return OTHER_SIGNS.sub("", usual)[:LONGEST]


def answers(typed: Typed, exercise: str) -> Sequence[str]:
    """What stands in the gaps; nothing if it belongs to another exercise."""
    return typed[1:] if typed[:1] == (exercise,) else ()


def name_of(*what: object) -> str:
    """A short name of an exercise, from what distinguishes it from others."""
    return f"{zlib.crc32(repr(what).encode()):08x}"


TYPED: Setting[Typed] = Setting("typed", (), read, "_".join)
