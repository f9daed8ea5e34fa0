"""Vocabulary: the final softmax, one idea a part."""

from ffnviz.page import Part
from ffnviz.pages.vocabulary import forming, parts, softmax, writing
from ffnviz.pages.vocabulary.strategy import CUTS

PARTS = (
    Part(softmax.render, "From logits to words", "softmax", CUTS),
    Part(writing.render, "Write on", "write", (*CUTS, writing.WORDS, writing.STEP)),
    Part(forming.render, "How the prediction forms", "lens"),
    Part(parts.render, "Who added what", "parts", (parts.WORD,)),
)
