"""Vocabulary: the final softmax, one idea a part."""

from ffnviz.analysis.needs import Need
from ffnviz.parts.part import Part
from ffnviz.parts.vocabulary import forming, parts, softmax, writing
from ffnviz.parts.vocabulary.strategy import CUTS

PARTS = (
    Part(softmax.render, "From logits to words", "softmax", CUTS, (Need.WORD_HEAD,)),
    Part(
        writing.render,
        "Write on",
        "write",
        (*CUTS, writing.WORDS, writing.STEP),
        (Need.WORD_HEAD, Need.WRITES),
    ),
    Part(forming.render, "How the prediction forms", "lens", needs=(Need.WORD_HEAD,)),
    Part(
        parts.render,
        "Who added what",
        "parts",
        (parts.WORD,),
        (Need.WORD_HEAD, Need.WORD_VECTORS, Need.PRE_NORM),
    ),
)
