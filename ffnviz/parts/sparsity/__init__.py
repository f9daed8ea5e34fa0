"""Sparsity: ReLU beside GELU, one idea a part."""

from ffnviz.analysis.needs import Need
from ffnviz.parts.part import Part
from ffnviz.parts.sparsity import awake, bend, birth, gate, keep, never, swap

PARTS = (
    Part(bend.render, "Where φ bends", "bend"),
    Part(gate.render, "A random gate", "gate", gate.SETTINGS, (Need.PLAIN_FFN,)),
    Part(awake.render, "Who is awake", "awake", (awake.THRESHOLD,)),
    Part(keep.render, "The strongest few", "keep", (keep.KEPT,), (Need.WORD_HEAD,)),
    Part(never.render, "Never above zero", "never", needs=(Need.RECORD,)),
    Part(birth.render, "Born in training", "birth", needs=(Need.RECORD,)),
    Part(swap.render, "Swap φ", "swap", needs=(Need.PARTNER, Need.OURS, Need.PLAIN_FFN)),
)
