"""The page Block: encoder and decoder blocks, an RNN beside one, and a stack to ablate."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.block import against_rnn, beside, decoder, encoder, strip
from ffnviz.parts.part import Part, View, part_of_views

OURS = (Capability.OURS,)

PARTS = (
    part_of_views("The block", "block", "a token's steps through a block", "kind_view", {
        "encoder": View("encoder", encoder.sheet, encoder.SETTINGS,
                        (Capability.ATTENTION, Capability.IN_ORDER)),
        "decoder": View("decoder", decoder.sheet, decoder.SETTINGS, OURS),
        "beside": View("attention beside FFN", beside.sheet,
                       needs=(Capability.OURS, Capability.PLAIN_FFN)),
    }),
    Part(against_rnn.sheet, "Against an RNN", "turns", against_rnn.SETTINGS, OURS,
         line="all words at once, or one by one"),
    Part(strip.sheet, "Ablate parts", "strip", strip.SETTINGS, OURS,
         line="leave one out and see what breaks"),
)  # fmt: skip
