"""The page Exercises: an FFN by hand, a block to build and debug, and misconceptions to test."""

from ffnviz.analysis.needs import Capability
from ffnviz.parts.exercises import build, by_hand, predict
from ffnviz.parts.part import Part

NEEDS = (Capability.OURS, Capability.PLAIN_FFN, Capability.PRE_NORM)

PARTS = (
    Part(by_hand.sheet, "By hand", "hand", by_hand.SETTINGS,
         line="fill in z, h and y; each is checked"),
    Part(build.sheet, "Build the block", "build", build.SETTINGS, NEEDS,
         line="lines to order, and ten bugs"),
    Part(predict.sheet, "Predict, see, vote", "predict", predict.SETTINGS,
         line="twelve things that people believe"),
)  # fmt: skip
