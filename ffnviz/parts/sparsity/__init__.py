"""Sparsity: ReLU beside GELU, one idea a part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.sparsity import awake, bend, birth, gate, keep, never, swap

PARTS = (
    Part(bend.sheet, "Where φ bends", "bend"),
    Part(gate.sheet, "A random gate", "gate", gate.SETTINGS, (Capability.PLAIN_FFN,)),
    Part(awake.sheet, "Who is awake", "awake", (awake.THRESHOLD,)),
    Part(keep.sheet, "The strongest few", "keep", (keep.KEPT,), (Capability.WORD_HEAD,)),
    Part(never.sheet, "Never above zero", "never", needs=(Capability.RECORD,)),
    Part(birth.sheet, "Born in training", "birth", needs=(Capability.RECORD,)),
    Part(
        swap.sheet,
        "Swap φ",
        "swap",
        needs=(Capability.PARTNER, Capability.OURS, Capability.PLAIN_FFN),
    ),
)
