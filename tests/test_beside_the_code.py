"""CITATION.cff, deploy/ and docs/: what their formats ask for, and what only the files can say."""

import re
import tomllib
from pathlib import Path

import yaml

import ffnviz

ROOT = Path(__file__).parents[1]


def test_the_citation_has_what_the_format_asks_for_and_says_what_the_package_says() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation.keys() >= {"authors", "cff-version", "message", "title"}
    assert citation["cff-version"] == "1.2.0"
    assert all(author.keys() & {"name", "family-names"} for author in citation["authors"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == ffnviz.__version__
    assert citation["license"] == project["license"]
    assert project["description"].casefold() in citation["title"].casefold()


DEPLOY = ROOT / "deploy"


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
    assert any(line.startswith("proxy_set_header X-Forwarded-For $remote_addr;") for line in conf)
    app = "\n".join(lines("compose.yaml")).partition("app:")[2].partition("redis:\nimage")[0]
    assert 'FORWARDED_ALLOW_IPS: "*"' in app
    assert "ports:" not in app, "then anybody could say who asks"
    run = " ".join(lines("Dockerfile"))
    for extra in ["redis", "hf"]:
        assert f"-r requirements-{extra}.txt" in run
        assert run.index(f"requirements-{extra}.txt ") < run.index("pip install -r")


NAMED = re.compile(r"(?<![/\w])(?:tests|benchmarks|ffnviz)/[\w/]+\.(?:py|js|toml|json)\b")


def test_the_files_that_documents_name_are_there() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {(path.name, n) for path in documents for n in NAMED.findall(path.read_text("utf-8"))}
    assert len(named) > 20
    assert not {name for name in named if not (ROOT / name[1]).is_file()}
