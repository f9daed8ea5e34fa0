"""Another token of the sentence as a setting: counted from 1 in the URL; 0 until one is chosen."""

from collections.abc import Sequence

from ffnviz.parts.sheet import Choice, set_to
from ffnviz.state.settings import Setting, count_setting
from ffnviz.state.state import LARGEST


def token_setting(name: str) -> Setting[int]:
    """A setting that holds a token, from 1; while it is 0, the part chooses one."""
    return count_setting(name, 0, 0, LARGEST)


def token_choice(
    label: str, setting: Setting[int], labels: Sequence[str], places: Sequence[int], chosen: int
) -> Choice:
    """The control for it.

    Args:
        label: unique on the sheet.
        setting: from `token_setting`.
        labels: of all tokens.
        places: of the tokens offered, from 0.
        chosen: the one of them that is chosen now.
    """
    words = [f"{place + 1}. {labels[place]}" for place in places]
    chosen = places.index(chosen)
    return Choice(label, words, lambda at: set_to(setting, places[at] + 1), chosen, style="menu")
