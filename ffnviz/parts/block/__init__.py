"""The page Block: encoder and decoder blocks, an RNN beside one, and a stack to ablate."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.block import against_rnn, decoder, strip, whole
from ffnviz.parts.part import Part

OURS = (Capability.OURS,)

PARTS = (
    Part(whole.sheet, "Encoder block", "block", whole.SETTINGS,
         (Capability.ATTENTION, Capability.IN_ORDER),
         line="every step from a token in to out"),
    Part(decoder.sheet, "Decoder block", "decoder", decoder.SETTINGS, OURS,
         line="also looks at the sentence it was given"),
    Part(against_rnn.sheet, "Against an RNN", "turns", against_rnn.SETTINGS, OURS,
         line="all words at once, or one by one"),
    Part(strip.sheet, "Ablate layers", "strip", strip.SETTINGS, OURS,
         line="take parts away and see what breaks"),
)  # fmt: skip
