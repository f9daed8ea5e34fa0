"""Ten sentences, as a plain keyboard types them, and what other keyboards make of them."""

import re
from collections.abc import Callable

SENTENCES = (
    "I don't [MASK] it.",
    '"Come in," said the old man, "and sit down."',
    "She said: \"He told me, 'Wait here!', and [MASK].\"",
    "It wasn't John's [MASK]; it was the Smiths' dog.",
    "He opened the door--and saw [MASK].",
    "Well... I don't know what you [MASK]...",
    "The war of 1914-18 was a long-drawn-out [MASK].",
    "'Tis the season, isn't it?",
    '"[MASK]!" he cried; "where are you?"',
    "My father -- an old man -- couldn't [MASK] any more.",
)


def _with_quotes(text: str, opening: str, closing: str, single: str, half: str) -> str:
    """With marks that open and close; a single one within a word is `half`, as an apostrophe."""
    text = re.sub(r'"(?=[\w\[\'])', opening, text).replace('"', closing)
    text = re.sub(r"(?<!\w)'(?=\w)", single, text)
    return text.replace("'", half)


def ios(text: str) -> str:
    """Smart punctuation: quotes that turn, a dash for two hyphens, one sign for three stops."""
    return _with_quotes(text, "“", "”", "‘", "’").replace("--", "—").replace("...", "…")


def android(text: str) -> str:
    """Straight quotes; dash and ellipsis by a long press, the wrong accent for an apostrophe."""
    return text.replace("--", "—").replace("...", "…").replace("'", "´")


def macos(text: str) -> str:
    """Smart quotes and dashes, and spaces typed while the Option key was still held."""
    text = _with_quotes(text, "“", "”", "‘", "’").replace("--", "—")
    return re.sub(r"([’”—]) ", "\\1\N{NO-BREAK SPACE}", text)


def word(text: str) -> str:
    """Microsoft Word: as above, an en dash between spaces, its hyphens that break or do not."""
    text = _with_quotes(text, "“", "”", "‘", "’").replace(" -- ", " – ").replace("--", "—")
    text = re.sub(r"(?<=\d)-(?=\d)", "–", text.replace("...", "…"))
    return text.replace("season", "sea\N{SOFT HYPHEN}son").replace("-", "\N{NON-BREAKING HYPHEN}")


def french(text: str) -> str:
    """Guillemets with spaces within, and a space before what is drawn in two parts."""
    text = _with_quotes(text, "«\N{NO-BREAK SPACE}", "\N{NO-BREAK SPACE}»", "‹", "’")
    narrow = "\N{NARROW NO-BREAK SPACE}"
    return re.sub("([?!;:])", f"{narrow}\\1", text).replace("--", "–" if " --" in text else "—")


def german(text: str) -> str:
    """Marks that open below and close as English ones open; ‘ for an apostrophe at a word's end."""
    text = _with_quotes(text, "„", "“", "‚", "’")
    return re.sub(r"’(?!\w)", "‘", text).replace("...", "…").replace(" -- ", " – ")


def german_books(text: str) -> str:
    """Guillemets that point inwards, without spaces."""
    return _with_quotes(text, "»", "«", "›", "’").replace("--", "―")


KEYBOARDS: dict[str, Callable[[str], str]] = {
    "iOS": ios,
    "Android": android,
    "macOS": macos,
    "Word": word,
    "French": french,
    "German": german,
    "German books": german_books,
}
