"""The page Learn: small networks trained while one watches."""

from ffnviz.parts.learn import bet, train
from ffnviz.parts.part import View, part_of_views

LINE = "a network that knows nothing learns"
VIEWS = {
    "one": View("one network", train.sheet, train.SETTINGS),
    "bet": View("a bet on two", bet.sheet, bet.SETTINGS),
}
PARTS = (part_of_views("Train", "train", LINE, "train_view", VIEWS),)
