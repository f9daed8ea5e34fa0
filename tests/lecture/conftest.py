"""Both places in which classes are kept, for all tests of classes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lecture.class_stores import InFile, InRedis, Kept, redis_server


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["file", "redis"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return InFile(tmp_path) if request.param == "file" else InRedis(request.getfixturevalue("url"))
