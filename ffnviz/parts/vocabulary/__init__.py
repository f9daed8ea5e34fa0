"""Vocabulary: the final softmax, one idea a part."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.vocabulary import forming, parts, softmax, writing
from ffnviz.parts.vocabulary.strategy import CUTS

PARTS = (
    Part(softmax.sheet, "From logits to words", "softmax", CUTS, (Capability.WORD_HEAD,)),
    Part(
        writing.sheet,
        "Write on",
        "write",
        (*CUTS, writing.WORDS, writing.STEP),
        (Capability.WORD_HEAD, Capability.WRITES),
    ),
    Part(forming.sheet, "How the prediction forms", "lens", needs=(Capability.WORD_HEAD,)),
    Part(
        parts.sheet,
        "Who added what",
        "parts",
        (parts.WORD,),
        (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM),
    ),
)
