"""The texts of files, in UTF-8 or in what a mark at their start says: UTF-16, UTF-32.

Windows writes such marks, and Project Gutenberg's books begin with one. None is part of the text.
"""

import codecs
import io
from pathlib import Path
from typing import Any

LONGEST_MARK = 4  # bytes
MARK = "\ufeff"  # as text
UTF_8 = "utf-8-sig"  # with or without the mark
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def encoding_of(start: bytes) -> str:
    """The codec of a text by its first bytes; it leaves the mark out of what it decodes."""
    if start.startswith(_UTF_32):  # its mark begins as that of UTF-16
        return "utf-32"
    return "utf-16" if start.startswith(_UTF_16) else UTF_8


def decoded(content: bytes) -> str:
    """The text that a file's bytes are."""
    return content.decode(encoding_of(content))


def read_text(path: Path) -> str:
    """The text of a file."""
    return decoded(path.read_bytes())


def lines_of(stream: Any, newline: str | None = None) -> io.TextIOWrapper:
    """The lines of a binary stream, with � for what is not text; lines end as `open` has it."""
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
    encoding = encoding_of(buffered.peek(LONGEST_MARK))
    return io.TextIOWrapper(buffered, encoding, errors="replace", newline=newline)
