"""A Python program on a sheet, to be read and copied."""

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from ffnviz.pictures.cell import Cell

KINDS = {Comment: "comment", Keyword: "keyword", Number: "number", String: "string",
         Operator: "operator", Name.Builtin: "builtin", Name.Function: "function"}  # fmt: skip


def code_cell(key: str, code: str) -> Cell:
    """A program with its keywords, numbers and comments marked.

    Args:
        key: unique on the sheet.
        code: the text, in Python.
    """
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    return Cell("code", key, {"code": code, "tokens": [
        [text, _kind(token)] for token, text in lexer.get_tokens(code)
    ]})  # fmt: skip


def _kind(token: _TokenType) -> str:
    return next((kind for known, kind in KINDS.items() if token in known), "")
