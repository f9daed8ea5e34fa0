"""Sparsity: ReLU beside GELU, one idea a part."""

from ffnviz.page import Part
from ffnviz.pages.sparsity import awake, bend, birth, keep, never, swap

PARTS = (
    Part(bend.render, "Where φ bends", "bend"),
    Part(awake.render, "Who is awake", "awake", (awake.THRESHOLD,)),
    Part(keep.render, "The strongest few", "keep", (keep.KEPT,)),
    Part(never.render, "Never awake", "never"),
    Part(birth.render, "Born in training", "birth"),
    Part(swap.render, "Swap φ", "swap"),
)
