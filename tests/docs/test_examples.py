"""The tutorial and the how-tos: every example runs, and prints what the page says."""

from pathlib import Path

import pytest

from tests.docs.running import blocks_of, run_page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "transformers"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_there_are_twelve_and_each_has_an_example() -> None:
    assert len(PAGES) >= 1 + 12
    for page in PAGES:
        assert blocks_of(page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\nprint(1 + 1)\n```\n```text\n3\n```\n",  # another result
        "```python\nprint(1 + 1)\n```\n",  # a result that the page does not show
        "```python\n1\n```\n```text\n1\n```\n",  # one that nobody prints
        "```bash\nffnviz export --no-such-option\n```\n",
        "```bash\nffnviz index --corpus not-there\n```\n",
    ],
)
def test_what_is_wrong_is_seen(wrong: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(wrong, encoding="utf-8")
    with pytest.raises(AssertionError):
        run_page(page)
