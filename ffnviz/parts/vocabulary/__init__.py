"""Vocabulary: from the last vector to words."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.part import Part
from ffnviz.parts.vocabulary import attribution, generate, lens, softmax
from ffnviz.parts.vocabulary.strategy import CUTS

HEAD = (Capability.WORD_HEAD,)

PARTS = (
    Part(softmax.sheet, "Softmax", "softmax", CUTS, HEAD,
         line="from numbers to word probabilities"),
    Part(generate.sheet, "Generate text", "write",
         (*CUTS, generate.WORDS, generate.STEP), (*HEAD, Capability.WRITES),
         line="the network writes, word by word"),
    Part(lens.sheet, "Logit lens", "lens", (), HEAD, line="the prediction, block by block"),
    Part(attribution.sheet, "Direct logit attribution", "parts",
         (attribution.WORD,), (*HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM),
         line="what each block adds to a word's logit"),
)  # fmt: skip
