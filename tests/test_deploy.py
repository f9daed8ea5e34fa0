"""deploy/: what the files promise that only the files can say."""

from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[1] / "deploy"


def lines(name: str) -> list[str]:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def test_nginx_asks_again_where_the_copies_are() -> None:
    conf = lines("nginx.conf")
    (server,) = [line for line in conf if line.startswith("server app:")]
    assert " resolve " in server
    assert any(line.startswith("zone ") for line in conf)
    assert any(line.startswith("resolver ") for line in conf)


def test_every_proxy_says_for_whom_it_asks_and_nobody_else_can() -> None:
    """What X-Forwarded-For says hides /metrics, and counts who joins a class from where."""
    assert any(
        line.startswith("proxy_set_header X-Forwarded-For $remote_addr;")
        for line in lines("nginx.conf")
    )
    app = "\n".join(lines("compose.yaml")).partition("app:")[2].partition("redis:\nimage")[0]
    assert 'FORWARDED_ALLOW_IPS: "*"' in app
    assert "ports:" not in app, "then anybody could say who asks"


@pytest.mark.parametrize("extra", ["redis", "hf"])
def test_the_image_has_what_its_environment_can_ask_for(extra: str) -> None:
    run = " ".join(lines("Dockerfile"))
    assert f"-r requirements-{extra}.txt" in run
    assert run.index(f"requirements-{extra}.txt ") < run.index("pip install -r")
