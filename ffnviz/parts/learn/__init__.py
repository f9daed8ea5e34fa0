"""The page Learn: small networks trained while one watches."""

from ffnviz.parts.learn import bet, train
from ffnviz.parts.part import Part

PARTS = (
    Part(train.sheet, "Train", "train", train.SETTINGS, line="a network that knows nothing learns"),
    Part(bet.sheet, "A bet", "bet", bet.SETTINGS, line="two networks that differ in one thing"),
)
