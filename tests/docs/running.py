"""The examples of a page, run as a reader would: from the top, one namespace, one folder."""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from ffnviz.cli import main
from ffnviz.cli.app import app

BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block; what follows a block at once, and is `text`, is what it prints."""

    language: str
    code: str
    line: int
    prints: str


def blocks_of(page: str) -> list[Block]:
    """The blocks that run, in their order."""
    found = list(BLOCK.finditer(page))
    blocks = []
    for here, after in zip(found, [*found[1:], None], strict=True):
        told = after and after[1] == "text" and not page[here.end() : after.start()].strip()
        prints = after[2] if after and told else ""
        line = page.count("\n", 0, here.start()) + 1
        blocks.append(Block(here[1], here[2], line, prints))
    return [block for block in blocks if block.language in ("python", "bash")]


def run_page(path: Path) -> dict[str, Any]:
    """Run each block, see that it prints what the page says, and hand back what it has named."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "bash":
            for line in block.code.replace("\\\n", " ").splitlines():
                _command(line, f"{path.name}:{block.line}")
            continue
        printed = io.StringIO()
        lines = "\n" * block.line + block.code  # a traceback then names the page's own line
        with contextlib.redirect_stdout(printed):
            exec(compile(lines, str(path), "exec"), names)
        same = OutputChecker().check_output(block.prints, printed.getvalue(), FLAGS)
        assert same, f"{path.name}:{block.line} prints\n{printed.getvalue()}"
    return names


def _command(line: str, place: str) -> None:
    """Run a line of `ffnviz`; `app` would serve for ever, so its options alone are read."""
    words = shlex.split(line, comments=True)
    if not words or words[0] != "ffnviz":
        return
    if words[1] == "app":
        app.make_context("app", words[2:]).close()
        return
    result = CliRunner().invoke(main, words[1:])
    assert result.exit_code == 0, f"{place}: {line}\n{result.output}{result.exception!r}"
