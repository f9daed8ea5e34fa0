"""The documents' examples: each runs, and prints what the page says; each name has one."""

import ast
import contextlib
import inspect
import io
import re
import shlex
import textwrap
import tomllib
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, DocTestParser, DocTestRunner, OutputChecker
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch
from click.testing import CliRunner

import ffnviz
from ffnviz.analysis.cost import Shape, overtaking_length
from ffnviz.app.catalog import build_catalog
from ffnviz.cli import main
from ffnviz.cli.app import app
from ffnviz.models.config import ASSETS
from ffnviz.parts import PAGES
from ffnviz.state.state import from_url

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
    """Run each block, see that it prints what the page says, and hand back what it has named.

    Commands are run for the code behind them; that all of them work is in test_commands.py.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    while blocks and blocks[-1].language == "bash":
        blocks.pop()
    for block in blocks:
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


DOCS = Path(__file__).parents[2] / "docs"
WITH_EXAMPLES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_its_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "transformers"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_what_is_wrong_is_seen_and_each_page_has_an_example(tmp_path: Path) -> None:
    assert len(WITH_EXAMPLES) >= 1 + 12
    for page in WITH_EXAMPLES:
        assert blocks_of(page.read_text(encoding="utf-8")), page

    for wrong in [
        "```python\nprint(1 + 1)\n```\n```text\n3\n```\n",  # another result
        "```python\nprint(1 + 1)\n```\n",  # a result that the page does not show
        "```bash\nffnviz export --no-such-option\n```\n```python\n1\n```\n",
        "```bash\nffnviz index --corpus not-there\n```\n```python\n1\n```\n",
    ]:
        page = tmp_path / "page.md"
        page.write_text(wrong, encoding="utf-8")
        with pytest.raises(AssertionError):
            run_page(page)


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """What an example may name: the network in memory is the how-to's, `sae` that of Sae."""
    pytest.importorskip("transformers")
    page = (DOCS / "how-to" / "own-network.md").read_text(encoding="utf-8")
    made: dict[str, Any] = {}
    exec(blocks_of(page)[0].code, made)
    named = {"ffnviz": ffnviz, "torch": torch, "Path": Path}
    for example in DocTestParser().get_examples(inspect.getdoc(ffnviz.Sae) or "")[:3]:
        exec(example.source, named)
    return named | {name: made[name] for name in ("gpt2", "tokenizer")}


@pytest.mark.parametrize("name", ffnviz.__all__)
def test_its_example_runs(
    name: str, known: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anywidget")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(getattr(ffnviz, name)) or ""
    example = DocTestParser().get_doctest(text, dict(known), name, None, None)
    assert example.examples, f"{name} has no example"
    told: list[str] = []
    DocTestRunner(optionflags=FLAGS).run(example, out=told.append)
    assert not told, "".join(told)


BENCH = DOCS / "researchers.md"


def test_every_public_name_is_in_the_reference_and_every_function_on_the_bench() -> None:
    for name in ffnviz.__all__:
        pages = "".join(
            page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md")
        )
        told = "ffnviz.export.notebook.Views" if name == "view" else f"ffnviz.{name}"
        assert f"::: {told}\n" in pages
    page = BENCH.read_text(encoding="utf-8")
    functions = [name for name in ffnviz.__all__ if name[0].islower()]
    assert [name for name in functions if f"ffnviz.{name}" not in page] == []


def test_the_examples_of_the_bench_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("anywidget")
    monkeypatch.chdir(tmp_path)
    lines = BENCH.read_text(encoding="utf-8").splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))
    names: dict[str, Any] = {}
    exec(compile(ast.parse(code), str(BENCH), "exec"), names)
    parts = names["parts"]
    assert abs(parts.residue) < 1e-3
    assert names["found"].restored.shape == (2, len(names["trace"].tokens))
    assert (tmp_path / "it.safetensors").exists()


TEXT = (DOCS / "teach.md").read_text(encoding="utf-8")
LINKS = re.findall(r"http://localhost:8501/(\w+)\?([^)]+)\)", TEXT)


@pytest.mark.parametrize(("page", "query"), LINKS)
def test_each_link_opens_the_part_and_the_view_that_it_names(page: str, query: str) -> None:
    asked = dict(parse_qsl(query))
    state = from_url(page, asked, build_catalog())
    (shown,) = [each for each in PAGES if each.name == page]
    part = shown.part(asked["part"])
    assert (state.page, state.part, part.name) == (page, asked["part"], asked["part"])
    settings = {each.name: each for each in part.settings}
    for name in asked.keys() - {"part"}:
        assert settings[name].text(settings[name].parse(asked[name])) == asked[name]


def _lecture(name: str) -> str:
    return (ASSETS / "lectures" / f"{name}.toml").read_text(encoding="utf-8")


def test_each_scene_exists() -> None:
    titles = {
        name: [scene["title"] for scene in tomllib.loads(_lecture(name))["scene"]]
        for name in ("ffn", "course")
    }
    for lecture, line in re.findall(r"\| (Lecture|Course), ([^|]+) \|", TEXT):
        name = "ffn" if lecture == "Lecture" else "course"
        named = re.findall("“([^”]+)”", line)
        assert named
        assert set(named) <= set(titles[name]), line


def test_the_answers_of_the_exam_questions_are_right() -> None:
    assert overtaking_length(Shape()) == 1_024
    assert "equal at n = 1,024" in TEXT
    ffn = ffnviz.load("relu").encoder.blocks[0].ffn
    product = ffn.compress.weight.detach().double() @ ffn.expand.weight.detach().double()
    assert int(torch.linalg.matrix_rank(product)) == 512
