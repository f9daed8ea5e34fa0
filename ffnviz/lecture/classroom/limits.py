"""How large a class may become, and how long it lasts."""

from ffnviz.state.state import tidied

MOST_PEOPLE = 1_200
LONGEST_SENTENCE = 500
MOST_OPTIONS = 6
LIVES_S = 3 * 3_600.0  # after the last action
AWAY_AFTER_S = 60.0  # after their last sign of life, students count as gone


def sentence_text(typed: str) -> str:
    """What a student typed, as every sentence is read, of bounded length: ___ is a mask."""
    return tidied(typed)[:LONGEST_SENTENCE]
