"""The page Learn: small networks trained while one watches."""

from ffnviz.parts.learn import bet, train
from ffnviz.parts.part import View, part_of_views

PARTS = (
    part_of_views(
        "Train",
        "train",
        "a network that knows nothing learns",
        "train_view",
        {
            "one": View("one network", train.sheet, train.SETTINGS),
            "bet": View("a bet on two", bet.sheet, bet.SETTINGS),
        },
    ),
)
