"""The reference has every public name, and each name an example that runs."""

import inspect
from doctest import DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any

import pytest
import torch

import ffnviz
from tests.docs.running import FLAGS, blocks_of

DOCS = Path(__file__).parents[2] / "docs"


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


@pytest.mark.parametrize("name", ffnviz.__all__)
def test_it_is_in_the_reference(name: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    told = "ffnviz.export.notebook.Views" if name == "view" else f"ffnviz.{name}"
    assert f"::: {told}\n" in pages
