"""Words on a sheet: paragraphs, each plain, quiet, or to be noticed."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from ffnviz.pictures.cell import Cell, Head, entry, event, place
from ffnviz.pictures.wording import Sentence, to_spans

KINDS = {
    Comment: "comment",
    Keyword: "keyword",
    Number: "number",
    String: "string",
    Operator: "operator",
    Name.Builtin: "builtin",
    Name.Function: "function",
}


def code_cell(key: str, code: str) -> Cell:
    """A program in Python with its keywords, numbers and comments marked."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)

    def kind_of(token: _TokenType) -> str:
        return next((kind for known, kind in KINDS.items() if token in known), "")

    tokens = [[text, kind_of(token)] for token, text in lexer.get_tokens(code)]
    return Cell("code", key, {"code": code, "tokens": tokens})


DRAWN = 500  # rows, of however many; all are sorted and saved


def table_cell(
    key: str,
    head: Head,
    columns: Sequence[str],  # their names
    rows: Sequence[Sequence[str | float]],  # as many values each
    # gives the action for the place of a clicked row
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """Rows under the names of their columns, a click on which sorts; numbers stand to the right."""
    data = {
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "head": head.to_json(),
        "clickable": on_choose is not None,
        "drawn": DRAWN,
    }
    events = {} if on_choose is None else {"row": event(on_choose, place, len(rows))}
    return Cell("table", key, data, events=events)


@dataclass(frozen=True)
class Passage:
    """One sentence."""

    value: str  # the number before it, as written
    # before, at, after: its text; `at` is marked
    before: str
    at: str
    after: str


def passages_cell(head: Head, shown: Sequence[Passage], key: str) -> Cell:
    """Sentences, one below the other; the head's accent marks."""
    data: dict[str, Any] = {
        "rows": [[p.value, p.before, p.at, p.after] for p in shown],
        "head": head.to_json(),
    }
    return Cell("passages", key, data)


def saving_cell(
    label: str,  # on it
    content: str | bytes | None,  # of the file; None if there is nothing to save
    name: str,  # of the file
    kind: str,  # its media type
    key: str,
) -> Cell:
    """A button that saves a file."""
    file = None if content is None else file_data(content, name, kind)
    return Cell("saving", key, {"label": label, "file": file})


def file_data(content: str | bytes, name: str, kind: str) -> dict[str, str]:
    """A file as JSON values, from which the browser makes it."""
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "type": kind, "base64": base64.b64encode(data).decode()}


def opening_cell(
    label: str,  # says which file
    accept: str,  # its ending, as “.json”
    longest: int,  # characters; of a longer file one more comes, so that it can be said
    key: str,
    on_text: Callable[[str, str], None],  # called with the file's name and its text
) -> Cell:
    """A button that opens a file."""

    def chosen(sent: Any) -> None:
        name, text = entry(sent, "name"), entry(sent, "text")
        if isinstance(name, str) and isinstance(text, str):
            on_text(name, text[: longest + 1])

    data = {"label": label, "accept": accept, "longest": longest}
    return Cell("opening", key, data, events={"file": chosen})


def storage_cell(
    name: str,  # under which it is kept
    # to keep; nothing is kept of an empty one, and what was kept stays while one is too long. None
    # asks for what is kept.
    text: str | None,
    longest: int,  # characters
    key: str,
    # called with what was kept when it was asked for, or when another tab of the same browser has
    # changed it
    on_kept: Callable[[str], Any],
) -> Cell:
    """An invisible cell that has the browser keep a text."""

    def kept(sent: Any) -> Any:
        return on_kept(sent) if isinstance(sent, str) and len(sent) <= longest else None

    fits = text is not None and len(text) <= longest
    data = {"name": name, "asks": text is None, "text": text if fits else None}
    return Cell("local_storage", key, data, events={"kept": kept})


Tone = Literal["plain", "quiet", "info", "warning"]


def text_cell(
    key: str,
    # each a sentence, in which the text between backticks is code unless it is marked; what a
    # person typed is marked as typed, and is always shown as text
    *paragraphs: Sentence,
    tone: Tone = "plain",  # how loud they are; "warning" is read out at once
) -> Cell:
    """Paragraphs, one below the other."""
    return Cell("text", key, {"paragraphs": [*map(_with_code, paragraphs)], "tone": tone})


def _with_code(sentence: Sentence) -> list[list[str]]:
    spans: list[list[str]] = []
    for text, kind in to_spans(sentence):
        pieces = text.split("`") if kind == "plain" else [text]
        spans += [[piece, "code" if at % 2 else kind] for at, piece in enumerate(pieces) if piece]
    return spans
