"""A bet that is placed before something is tried; alone or with a class."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import event, place

FIRST_OF_CLASS = 9_500  # bets of a class lie beyond its votes on scenes and on misconceptions


def bet_cell(
    key: str,
    ask: str,
    options: Sequence[str],
    bet: int | None,
    number: int,
    on_bet: Callable[[int], Any],
    *,
    begun: bool,
    outcome: int | None,
) -> Cell:
    """What is bet on, the options, and whether the bet was won.

    Args:
        key: unique on the sheet.
        ask: the question.
        options: to choose from.
        bet: one's own, as the place of an option; None if none is placed.
        number: the question's own, among all that a class bets on.
        on_bet: gives the action for the place of an option.
        begun: whether it is being tried, so that a class sees what it has bet.
        outcome: which option has won; None if that is not known yet.
    """
    data = {
        "ask": ask,
        "options": list(options),
        "bet": bet,
        "scene": FIRST_OF_CLASS + number,
        "begun": begun,
        "outcome": outcome,
    }
    return Cell("bet", key, data, events={"bet": event(on_bet, place, len(options))})
