"""Sparsity: ReLU beside GELU, one idea a part."""

from ffnviz.page import Part
from ffnviz.pages.sparsity import awake, bend

PARTS = (
    Part(bend.render, "Where φ bends", "bend"),
    Part(awake.render, "Who is awake", "awake", (awake.THRESHOLD,)),
)
