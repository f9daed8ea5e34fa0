"""CITATION.cff: what the Citation File Format asks for, and what the package says of itself."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import ffnviz

ROOT = Path(__file__).parents[1]
# As in schema.json of version 1.2.0, https://github.com/citation-file-format
REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "type", "url", "version",
}  # fmt: skip
PERSON = {"affiliation", "email", "family-names", "given-names", "orcid", "website"}
ENTITY = {"name", "email", "website", "orcid", "country", "city"}


@pytest.fixture(scope="module")
def citation() -> dict[str, object]:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert isinstance(told, dict)
    return told


def test_it_has_what_the_format_asks_for_and_no_more(citation: dict[str, object]) -> None:
    assert citation.keys() >= REQUIRED
    assert citation.keys() <= ALLOWED
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    authors = citation["authors"]
    assert isinstance(authors, list)
    assert authors
    for author in authors:
        assert author.keys() <= (ENTITY if "name" in author else PERSON)
        assert author.keys() & {"name", "family-names"}
    if "date-released" in citation:
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(citation["date-released"]))


def test_it_says_of_the_package_what_the_package_says(citation: dict[str, object]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == ffnviz.__version__
    assert citation["license"] == project["license"]
    assert project["description"].casefold() in str(citation["title"]).casefold()
