"""The block: all of it, alive, and what stands beside it."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.block import decoder, strip, turns, whole
from ffnviz.parts.part import Part

PARTS = (
    Part(whole.sheet, "The encoder block", "block", whole.SETTINGS, (Capability.OURS,)),
    Part(decoder.sheet, "The decoder block", "decoder", decoder.SETTINGS, (Capability.OURS,)),
    Part(turns.sheet, "One after the other", "turns", turns.SETTINGS, (Capability.OURS,)),
    Part(strip.sheet, "Strip the stack", "strip", strip.SETTINGS, (Capability.OURS,)),
)
