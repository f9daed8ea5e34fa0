"""Vocabulary: from the last vector to words."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part, View, part_of_views
from ffnviz.parts.vocabulary import generate, lens, softmax
from ffnviz.parts.vocabulary.softmax import CUTS

HEAD = (Capability.WORD_HEAD,)

PARTS = (
    part_of_views("Softmax", "softmax", "from numbers to word probabilities", "softmax_view", {
        "word": View("one word", softmax.sheet, CUTS, HEAD),
        "write": View("writing on", generate.sheet, (*CUTS, generate.WORDS, generate.STEP),
                      (*HEAD, Capability.WRITES)),
    }),
    Part(lens.sheet, "Logit lens", "lens", (), HEAD, line="the prediction, block by block"),
    Part(lens.attribution_sheet, "Direct logit attribution", "parts",
         (lens.WORD,), (*HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM),
         line="what each block adds to a logit", further=True),
)  # fmt: skip
