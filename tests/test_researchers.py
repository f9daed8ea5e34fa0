"""docs/researchers.md: its examples run one after the other, and its numbers are what it says."""

import ast
import textwrap
from pathlib import Path
from typing import Any

import pytest

import ffnviz

PAGE = Path(__file__).parents[1] / "docs" / "researchers.md"


def test_its_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("anywidget")
    monkeypatch.chdir(tmp_path)
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))
    names: dict[str, Any] = {}
    exec(compile(ast.parse(code), str(PAGE), "exec"), names)
    parts = names["parts"]
    assert abs(parts.residue) < 1e-3
    assert names["found"].restored.shape == (2, len(names["trace"].tokens))
    assert (tmp_path / "it.safetensors").exists()


def test_it_names_every_public_function() -> None:
    page = PAGE.read_text(encoding="utf-8")
    functions = [name for name in ffnviz.__all__ if name[0].islower()]
    assert [name for name in functions if f"ffnviz.{name}" not in page] == []
