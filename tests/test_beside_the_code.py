"""CITATION.cff, deploy/ and docs/: what their formats ask for, and what only the files can say."""

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


def test_the_citation_has_what_the_format_asks_for_and_says_what_the_package_says(
    citation: dict[str, object],
) -> None:
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

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == ffnviz.__version__
    assert citation["license"] == project["license"]
    assert project["description"].casefold() in str(citation["title"]).casefold()


DEPLOY = Path(__file__).parents[1] / "deploy"


def lines(name: str) -> list[str]:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def test_a_deployments_proxies_say_for_whom_they_ask_and_where_the_copies_are() -> None:
    """What X-Forwarded-For says hides /metrics, and counts who joins a class from where."""
    conf = lines("nginx.conf")
    (server,) = [line for line in conf if line.startswith("server app:")]
    assert " resolve " in server
    assert any(line.startswith("zone ") for line in conf)
    assert any(line.startswith("resolver ") for line in conf)
    assert any(
        line.startswith("proxy_set_header X-Forwarded-For $remote_addr;")
        for line in lines("nginx.conf")
    )
    app = "\n".join(lines("compose.yaml")).partition("app:")[2].partition("redis:\nimage")[0]
    assert 'FORWARDED_ALLOW_IPS: "*"' in app
    assert "ports:" not in app, "then anybody could say who asks"
    for extra in ["redis", "hf"]:
        run = " ".join(lines("Dockerfile"))
        assert f"-r requirements-{extra}.txt" in run
        assert run.index(f"requirements-{extra}.txt ") < run.index("pip install -r")


NAMED = re.compile(r"(?<![/\w])(?:tests|benchmarks|ffnviz)/[\w/]+\.(?:py|js|toml|json)\b")


def test_the_files_that_documents_name_are_there() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {(path.name, n) for path in documents for n in NAMED.findall(path.read_text("utf-8"))}
    assert len(named) > 20
    assert not {name for name in named if not (ROOT / name[1]).is_file()}
