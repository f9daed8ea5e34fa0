"""Exercises: to do what was shown, to fail at it, and to see why."""

from ffnviz.parts.exercises import by_hand
from ffnviz.parts.part import Part

PARTS = (
    Part(
        by_hand.sheet,
        "By hand",
        "hand",
        by_hand.SETTINGS,
        line="fill in z, h and y; each is checked",
    ),
)
